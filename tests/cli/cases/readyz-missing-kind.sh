# /readyz says of a rule that cannot start what it waits for.
cat >"$work/rules.yaml" <<Y
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: site}
spec:
  for: {apiVersion: demo.example.com/v1, kind: Nothing}
  reconcile: {shell: 'true'}
Y
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --metrics 127.0.0.1:0 2>"$work/log" &
pid=$!
names_the_kind() {
  port=$(sed -n 's/.*serving metrics.*port=\([0-9]*\).*/\1/p' "$work/log")
  curl -s "http://127.0.0.1:$port/readyz" | grep -q Nothing
}
eventually names_the_kind
curl -s -w '%{http_code}\n' "http://127.0.0.1:$port/readyz"
kill $pid
wait $pid
