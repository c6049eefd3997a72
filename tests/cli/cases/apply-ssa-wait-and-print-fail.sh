# What was written and could not be printed counts in the exit code, whatever became of the wait behind it, and of the
# pruning behind that.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: default}\ndata: {k: v}\n' >"$work/m.yaml"
for pruned in "" "--prune --applyset=set"; do
  "$kubewatch" apply-ssa -f "$work/m.yaml" $pruned --wait --for='jq=.data.k=="x"' --timeout 2s -o 'jq=error("no")'
  echo "exit $?" >&2
done
