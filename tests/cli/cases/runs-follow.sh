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
# Until that many lines are in it.
wait_for() {
  for _ in $(seq 300); do
    [ "$(grep -c "$3" "$2" 2>/dev/null)" -ge "$1" ] && return
    sleep 0.1
  done
  echo "only $(cat "$2")"
}
for _ in $(seq 300); do
  [ "$(ask runs 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.1
done
ask runs -w >"$work/all" &
all=$!
ask runs -w cm/a -n default -o json >"$work/one" &
one=$!
wait_for 2 "$work/all" Startup
wait_for 1 "$work/one" Startup
ask trigger cm/b -n default --reason first
wait_for 1 "$work/all" first
ask trigger cm/a -n default --reason second
wait_for 2 "$work/all" Manual
wait_for 1 "$work/one" Manual
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
