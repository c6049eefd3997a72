# Metrics of a hook have a page of their own, as shell-operator's have, and are on /metrics as well.
mkdir "$work/hooks"
cat >"$work/hooks/count.sh" <<'HOOK'
#!/bin/sh
[ "${1:-}" = --config ] && { echo '{"configVersion":"v1","onStartup":1}'; exit 0; }
echo '{"name":"seen_total","action":"add","value":3,"labels":{"of":"it"}}' >"$METRICS_PATH"
HOOK
chmod +x "$work/hooks/count.sh"
"$kubewatch" run-controller --compat shell-operator "$work/hooks" --sandbox --metrics 127.0.0.1:0 2>"$work/log" &
pid=$!
eventually grep -q 'run done' "$work/log"
port=$(sed -n 's/.*serving metrics.*port=\([0-9]*\).*/\1/p' "$work/log")
curl -s "http://127.0.0.1:$port/metrics/hooks"
curl -s "http://127.0.0.1:$port/metrics" | grep -c -e seen_total -e 'kubewatch_runs_total{controller="count.sh"'
curl -s "http://127.0.0.1:$port/readyz"
kill $pid
wait $pid
