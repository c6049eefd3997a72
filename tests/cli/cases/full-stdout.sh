# What cannot be written to stdout is told, with the reason, and beside another failure as well.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
try() {
  "$kubewatch" "$@" >/dev/full 2>"$work/said"
  echo "$1: exit $?"
  grep -x 'error: cannot write to stdout.*' "$work/said"
}
try wait-condition cm/none --for=create --timeout 0 -o junit
try wait-condition cm/settings --for=create --timeout 60s
try watch cm -o name --max-events 1 --duration 60s
try crd-gen --help
exit 0
