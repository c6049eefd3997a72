# What the machine has against an address or a folder is no wrong usage; what was mistyped is.
printf kick >"$work/token"
cat >"$work/rules.yaml" <<'Y'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: kicked}
spec:
  triggers: [{http: {path: /kick, tokenFile: token}}]
  reconcile: {shell: "true"}
Y
try() {
  "$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --once --triggers 127.0.0.1:0 "$@" ||
    echo "$1: exit $?"
}
try --metrics 192.0.2.1:7000
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --once --triggers 192.0.2.1:7000 || echo "--triggers: exit $?"
mkdir -m 700 "$work/state"
(
  flock 9
  try --state "$work/state"
) 9>"$work/state/lock"
try --state "$work/none/state"
chmod 755 "$work/state"
try --state "$work/state"
echo other >"$work/file"
try --record "$work/file"
