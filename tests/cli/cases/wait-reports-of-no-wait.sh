# A wait that cannot begin, or has nothing left to wait for, still gives the document that a CI job asked for.
perl no_api_server.pl "$work/port" &
server=$!
eventually [ -s "$work/port" ]
printf 'apiVersion: ex.io/v1\nkind: Widget\nmetadata: {name: w1, namespace: shop}\n' >"$work/widget.yaml"
printf 'apiVersion: no.io/v1\nkind: Gadget\nmetadata: {name: g1}\n' >"$work/gadget.yaml"
try() {
  echo "# $*" | sed "s#$work/##" >&2
  where=$1
  shift
  "$kubewatch" wait-condition -s "http://127.0.0.1:$(cat "$work/port")/$where" --token x "$@" </dev/null >"$work/said"
  code=$?
  sed 's/"elapsedMilliseconds": [0-9]*/"elapsedMilliseconds": N/; s/time="[^"]*"/time="T"/g' "$work/said"
  echo "# exit $code" >&2
}
try all/500 -f "$work/widget.yaml" --for=delete --timeout 3s -o json
try silent -f "$work/gadget.yaml" --for=delete --timeout 3s
try silent -f "$work/gadget.yaml" --for=delete --timeout 3s -o json
try html nope/x --for=delete --timeout 3s -o junit
kill $server
echo "# nobody there" >&2
"$kubewatch" wait-condition cm/x --for=create --timeout 1s -s http://127.0.0.1:1 -o github
echo "# exit $?" >&2
