# A process that ends by itself does not wait for ever for a Lease that it may not have, nor does one that is to fail
# fast: who is refused ends at once with 7. What is missing may come, so that only the hasty one ends with 5.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
cat >"$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: widgets}
spec:
  for: {apiVersion: v1, kind: Widget}
  reconcile: {shell: 'true'}
R
try() {
  echo "# $*"
  timeout 30 "$kubewatch" run-controller --leader-elect "$@" 2>"$work/told"
  code=$?
  grep '^error' "$work/told"
  echo "exit $code"
}
refused="-f $work/rules.yaml -s http://127.0.0.1:$(cat "$work/port")/leaseless"
try $refused --once
try $refused --until-idle 1s
try $refused --fail-fast
try $refused --fail-fast --shards 2
try -f rules/good.yaml --sandbox --lease-namespace gone --fail-fast
