# What kubectl saved of a cluster is loaded, what is left out of it and all that is refused is told at once; a
# kustomization among the files is passed over.
mkdir "$work/dump" "$work/bad"
cat >"$work/dump/all.yaml" <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u-2, resourceVersion: "8", ownerReferences: [
    {apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u-1}]}, spec: {containers: [{name: c, image: i}]},
    status: {phase: Running}}
- {apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: default, uid: u-3, resourceVersion: "9", ownerReferences: [
    {apiVersion: v1, kind: Node, name: node, uid: u-9}]}, spec: {containers: [{name: c, image: i}]}}
- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, namespace: default, uid: u-1, resourceVersion: "7"}, spec: {
    selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
- {apiVersion: v1, kind: Service, metadata: {name: s, namespace: default, uid: u-4, resourceVersion: "6"}, spec: {
    clusterIP: 172.20.1.2, clusterIPs: [172.20.1.2], ports: [{port: 80}]}}
END
echo 'resources: [all.yaml]' >"$work/dump/kustomization.yaml"
"$kubewatch" sandbox --insecure-http -f "$work/dump" --kubeconfig "$work/config" >"$work/said" 2>"$work/told" &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually grep -q '^listening' "$work/said"
cat "$work/told" >&2
kill $server
wait $server 2>/dev/null
for name in a b; do
  printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: nowhere}\n' $name >>"$work/bad/maps.yaml"
done
"$kubewatch" sandbox --insecure-http -f "$work/bad"
echo "exit $?"
"$kubewatch" sandbox --insecure-http -f "$work/dump/kustomization.yaml"
echo "exit $?"
"$kubewatch" apply-ssa -f "$work/dump/kustomization.yaml" --server http://127.0.0.1:1
