# A recording that finds no room (a limit of the process stands in for a full disk) is a failure at the end, as that of
# a checkpoint is: the command itself does what it was asked for.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big, namespace: default}\ndata: {k: %s}\n' \
  "$(head -c 60000 /dev/urandom | base64 -w 0)" >"$work/big.yaml"
"$kubewatch" apply-ssa -f "$work/big.yaml" >/dev/null
# Blocks of 512 bytes.
try() {
  echo "# $*" | sed "s#$work/##" >&2
  (ulimit -f 16 && exec "$kubewatch" "$@" --record "$work/$1" </dev/null)
  echo "# exit $?" >&2
}
try watch cm/big -n default -o name --duration 4s
try reflect cm big -n default --query -o name
try wait-condition cm/big -n default --for=create
exit 0
