# What was written is told as it was written, not at the end: also of an apply that is killed.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
for name in a b c d; do
  printf -- '---\napiVersion: v1\nkind: Widget\nmetadata: {name: %s, namespace: shop}\n' $name
done >"$work/all.yaml"
"$kubewatch" apply-ssa -f "$work/all.yaml" --server "http://127.0.0.1:$(cat "$work/port")/slow" \
  --concurrency 1 >"$work/told" 2>"$work/said" &
apply=$!
eventually [ -s "$work/told" ]
kill -KILL $apply
wait $apply 2>/dev/null  # where the shell says by what it ended
echo "exit $?"
head -n 1 "$work/told"
exit 0
