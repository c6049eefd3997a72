printf 'kind: ConfigMap\nmetadata: {name: a}\n' > "$work/a.yaml"
"$kubewatch" apply-ssa -f "$work/a.yaml" --server http://127.0.0.1:1
echo "exit $?"
# A namespace of null, as a chart leaves it, is none: also of a kind that nobody knows.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
printf 'apiVersion: demo.x/v1\nkind: Nope\nmetadata: {name: a, namespace: }\n' >"$work/null.yaml"
"$kubewatch" apply-ssa -f "$work/null.yaml" -o json --server "http://127.0.0.1:$(cat "$work/port")/html"
