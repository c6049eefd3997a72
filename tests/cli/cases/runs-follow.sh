# `runs -w` goes on with the runs to come, those of other objects left out where one is named.
cat >"$work/objects.yaml" <<R
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, labels: {case: follow}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: default, labels: {case: follow}}}
R
cat >"$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: plain}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=follow}
  reconcile: {shell: 'true'}
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file "$work/objects.yaml" \
  --socket "$work/c.sock" 2>"$work/log" &
controller=$!
ask() {
  subcommand=$1
  shift
  "$kubewatch" run-controller "$subcommand" --socket "$work/c.sock" "$@"
}
has_run() { [ "$(ask runs | wc -l)" -ge 2 ]; }
eventually has_run
ask runs -w >"$work/all" &
all=$!
ask runs -w cm/a -n default -o json >"$work/one" &
one=$!
eventually at_least 2 Startup "$work/all"
eventually at_least 1 Startup "$work/one"
ask trigger cm/b -n default --reason first
eventually at_least 1 first "$work/all"
ask trigger cm/a -n default --reason second
eventually at_least 2 Manual "$work/all"
eventually at_least 1 Manual "$work/one"
kill -TERM $controller
wait $controller
echo "controller: $?"
wait $all
echo "follower: $?"
wait $one
echo "# all"
sed 's/[0-9.]*ms/Nms/; s/^[^ ]* //' "$work/all" | sort
echo "# one"
sed 's/.*"reason":"\([A-Za-z]*\)".*/\1/' "$work/one"
