# The time of --wait is for what is waited for: writes that took longer than it do not use it up.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
for name in a b c d; do
  printf -- '---\napiVersion: v1\nkind: Widget\nmetadata: {name: %s, namespace: shop}\n' $name
done >"$work/all.yaml"
"$kubewatch" apply-ssa -f "$work/all.yaml" --server "http://127.0.0.1:$(cat "$work/port")/slow" \
  --concurrency 1 --wait --for=create --timeout 3s 2>"$work/said"
echo "exit $?"
# Which of them are told as they come is a matter of time.
grep -v ': met: ' "$work/said" || :
