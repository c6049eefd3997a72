"$kubewatch" sandbox --kubeconfig "$work/kc" > /dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
"$kubewatch" apply-ssa -n elsewhere -f - <<'YAML'
{apiVersion: v1, kind: Namespace, metadata: {name: made}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: default}}
YAML
echo "exit $?"
# All of its time passes: again with more of it where a busy machine did not read in it.
for time in 6s 30s; do
  "$kubewatch" wait-condition namespace/made --for=create --timeout $time 2>"$work/said"
  code=$?
  grep -q '^namespaces/made: absent' "$work/said" && break
done
cat "$work/said" >&2
echo "exit $code"
kill $server
wait $server
exit 0
