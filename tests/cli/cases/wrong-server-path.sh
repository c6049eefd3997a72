# Where nothing is found at the address of the server, that is no word of an API server: not that a kind is not there,
# and not that an object is gone.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
printf 'apiVersion: v1\nkind: Widget\nmetadata: {name: w1, namespace: default}\n' >"$work/widget.yaml"
at() {
  where=$1
  shift
  timeout 100 "$kubewatch" "$@" --server "http://127.0.0.1:$(cat "$work/port")/$where" </dev/null
}
for where in all/missing all/nowhere; do
  at $where watch widgets
  echo "watch: exit $?"
  at $where reflect widgets --query
  echo "reflect: exit $?"
  at $where apply-ssa -f "$work/widget.yaml"
  echo "apply-ssa: exit $?"
  for goal in create delete; do
    at $where wait-condition widget/w1 --for=$goal --timeout 60s
    echo "wait-condition $goal: exit $?"
  done
done
# The server was there, and something else is in its place.
at missing wait-condition widget/w1 --for=delete --timeout 5s 2>"$work/said"
echo "wait-condition of a kind that is known: exit $?"
grep -c '^error: timed out waiting for delete on widgets/w1: ' "$work/said"
exit 0
