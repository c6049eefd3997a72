# Where only the metadata of objects is kept nothing is made up of the rest, and nothing decides by its absence.
cat >"$work/objects.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {a: "1"}
Y
"$kubewatch" sandbox -f "$work/objects.yaml" --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually [ -s "$work/config" ]
export KUBECONFIG="$work/config"
# What differs from run to run: ages, the width of their column, and which kind is read first.
aged() { sed -e '/^SYNCED/d' -e 's/ [0-9][0-9ms]*s\( \|$\)/ OLD\1/' -e 's/  */ /g' -e 's/ $//'; }
{
  echo "# tables"
  "$kubewatch" watch deployments --metadata-only -L app --max-events 1 | aged
  "$kubewatch" watch deployments --metadata-only -o wide --max-events 1 | aged
  "$kubewatch" watch deployments,configmaps --metadata-only --max-events 2 | sort | aged
  "$kubewatch" reflect deployments --metadata-only --query | aged
  "$kubewatch" reflect deployments,configmaps --metadata-only --once --snapshot "$work/saved" >/dev/null
  "$kubewatch" reflect --from "$work/saved" --query | aged
  "$kubewatch" reflect --from "$work/saved" --once -o wide | aged
  try() {
    "$kubewatch" "$@"
    echo "exit $?"
  }
  echo "# refused"
  only() { try watch deployments --metadata-only --duration 20s -o name "$@"; }
  only --until '.spec.replicas == 2'
  only --until condition=Available
  only --until 'jsonpath={.spec.replicas}=2'
  only --when '.old.spec.replicas != .spec.replicas'
  try watch deployments --metadata-only --duration 20s --fields .metadata.name,.spec.replicas
  try watch deployments --metadata-only --duration 20s -o 'jsonpath={.metadata.name} {.spec.replicas}'
  only() { try reflect deployments --metadata-only --query "$@"; }
  only --jq .spec.replicas
  only -o 'jq=.items[].spec.replicas'
  only -o 'jsonpath={range .items[*]}{.metadata.name}{.spec.replicas}{end}'
  only -o custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas
  only --sort-by .spec.replicas
  only() { try reflect deployments --from "$work/saved" "$@"; }
  only --query --jq .spec.replicas
  only --query --field-selector spec.replicas=2 -o name
  try reflect --from "$work/saved" --once -o 'jsonpath={.items[*].status}'
  echo "# not refused"
  try watch deployments --metadata-only --until create -o name
  try watch deployments --metadata-only --until 'jsonpath={.metadata.labels.app}=web' -o name
  try watch deployments --metadata-only --when '.metadata.labels.app == "web"' --max-events 1 -o jq=.metadata.name
  try reflect deployments --from "$work/saved" --query --field-selector metadata.name=web --jq '.metadata.labels.app'
  try reflect deployments --metadata-only --query -o 'jsonpath={.items[*].metadata.name}{"\n"}'
} 2>&1
exit 0
