# A process that ends by itself does not wait for a server that does not let it in, nor for a folder
# that cannot be made: the first is told as not logged in, the second is not.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
address=$(sed -n 's/^ *server: //p' "$work/kc")
try() {
  echo "# $*"
  "$kubewatch" run-controller -f rules/good.yaml "$@" 2>"$work/told"
  code=$?
  grep '^error' "$work/told"
  echo "exit $code"
}
stranger="-s $address --insecure-skip-tls-verify --token wrong"
try $stranger --once
try $stranger --until-idle 1s
kill $server
wait $server
export TMPDIR="$work/gone"
try -s http://127.0.0.1:1 --once
