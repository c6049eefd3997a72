"$kubewatch" sandbox --kubeconfig "$work/kc" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/kc" ] && break; sleep 0.1; done
export KUBECONFIG="$work/kc"
"$kubewatch" apply-ssa -n elsewhere -f - <<'YAML'
{apiVersion: v1, kind: Namespace, metadata: {name: made}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: default}}
YAML
echo "exit $?"
"$kubewatch" wait-condition namespace/made --for=create --timeout 6s
echo "exit $?"
kill $server
wait $server
exit 0
