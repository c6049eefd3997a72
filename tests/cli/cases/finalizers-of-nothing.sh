# finalizers: a name or a kind that is not there is told, and so is that nothing is held.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
cat >"$work/rules.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: guard}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  reconcile: {shell: 'true'}
R
# Its hook is not there any more: nothing of it is run here.
sed 's/reconcile: .*/reconcile: {exec: [.\/gone.sh]}/' "$work/rules.yaml" >"$work/gone.yaml"
try() {
  echo "# $*" >&2
  "$kubewatch" run-controller finalizers "$@"
  echo "# exit $?" >&2
}
try -f "$work/rules.yaml"
try -f "$work/gone.yaml"
try -f "$work/rules.yaml" -o json
try -f "$work/rules.yaml" cm/settings -n default --release
try -f "$work/rules.yaml" cm/settngs -n default --release
try -f "$work/rules.yaml" cm/settings -n other
try -f "$work/rules.yaml" pods/x --release
"$kubewatch" run-controller -f "$work/rules.yaml" --socket "$work/c.sock" 2>"$work/log" &
controller=$!
eventually grep -q 'controller started' "$work/log"
try --socket "$work/c.sock"
try --socket "$work/c.sock" cm/settings -n default --release
try --socket "$work/c.sock" cm/settngs -n default --release
kill $controller
wait $controller
kill $server
wait $server
