cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: good}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile: {shell: 'echo a line >&2'}
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: picky}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=other}
  owns: [{apiVersion: v1, kind: Secret}]
  reconcile: {shell: 'true'}
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: refusing}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  retry: {exits: {17: permanent}}
  reconcile: {shell: 'echo {apiVersion: kubewatch.dev/v1, kind: Result, message: broken}; exit 17'}
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml \
  --socket "$work/c.sock" 2>"$work/log" &
controller=$!
ask() {
  subcommand=$1
  shift
  "$kubewatch" run-controller "$subcommand" --socket "$work/c.sock" "$@"
}
# runs_of COUNT PATTERN FLAGS: so many of the runs that it lists match.
runs_of() {
  count=$1
  pattern=$2
  shift 2
  [ "$(ask runs "$@" | grep -c "$pattern")" -ge "$count" ]
}
eventually runs_of 2 .
stat -c 'the socket has mode %a' "$work/c.sock"
times='s/[0-9.]*ms/Nms/g; s/ended [0-9a-zN.]* ago/ended N ago/; s/[0-9]\{4\}-[^ ]*Z/TIME/'
echo "# explain"; ask explain configmap/settings -n default | sed "$times; s#$work/##"
echo "# explain what is not there"; ask explain cm/none | sed "$times; s#$work/##"; echo "# unknown kind"; ask explain pods/x; ask explain secret/x
echo "# trigger"; ask trigger cm/settings --reason "by hand"
eventually runs_of 2 Manual cm/settings
echo "# runs"; ask runs cm/settings | sed "$times" | sort
echo "# retry"; ask retry --parked
eventually runs_of 2 Manual --controller refusing
echo "# queue"; ask queue
echo "# log-level"; ask log-level; ask log-level 6; ask log-level -o json
echo "# nothing matches"; ask trigger -l case=none; ask trigger; echo "exit $?"
kill -TERM $controller
wait $controller
echo "exit $?"
ls "$work/c.sock" 2>/dev/null
ask queue
