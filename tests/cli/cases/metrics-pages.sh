# Serves on a port that the kernel picks; the log names it. Only what is the same each time is shown.
"$kubewatch" run-controller -f rules/log.yaml --sandbox --sandbox-file rules/configmap.yaml \
  --metrics 127.0.0.1:0 --log-format json 2>"$work/log" &
pid=$!
is_ready() {
  port=$(sed -n 's/.*"serving metrics".*"port":"\([0-9]*\)".*/\1/p' "$work/log")
  [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/readyz")" = 200 ]
}
eventually is_ready
eventually at_least 2 'run done' "$work/log"
for page in readyz healthz nothing; do
  curl -s -w "$page %{http_code}\n" "http://127.0.0.1:$port/$page"
done
curl -s -X POST -w 'POST %{http_code}\n' "http://127.0.0.1:$port/metrics"
curl -s "http://127.0.0.1:$port/metrics" >"$work/metrics"
grep -E '^kubewatch_(runs_total|ready|build_info|watch_up|controller_started|cache_objects|queue_objects)' "$work/metrics" |
  sed 's/version="[^"]*"/version="V"/'
grep '^# TYPE' "$work/metrics" | sort
kill "$pid"
wait "$pid"
