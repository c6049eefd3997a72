# A CRD that the server refuses is not waited for by its objects: nobody will serve them. Another server that is lost
# leaves objects that are named.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill -KILL $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
cat >"$work/crd.yaml" <<'M'
apiVersion: three.example.com/v1
kind: Three
metadata: {name: one}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: threes.three.example.com}
spec:
  group: three.example.com
  scope: Namespaced
  names: {plural: threes, kind: Three}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: nonsense}}}]
M
begun=$(date +%s)
"$kubewatch" apply-ssa -f "$work/crd.yaml" --kubeconfig "$work/kc" 2>&1 | sed 's/is invalid: .*/is invalid: .../'
[ $(($(date +%s) - begun)) -lt 10 ] && echo "at once"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
  printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\n' $i
done >"$work/many.yaml"
# Its kinds are known from the cache of discovery by now.
"$kubewatch" apply-ssa -f "$work/many.yaml" --kubeconfig "$work/kc" --dry-run=server -o name | tail -1
kill -KILL $server
wait $server 2>/dev/null
"$kubewatch" apply-ssa -f "$work/many.yaml" --kubeconfig "$work/kc" --concurrency 1 2>"$work/said"
echo "exit $?"
sed -E 's/127\.0\.0\.1:[0-9]+/SERVER/g' "$work/said"
