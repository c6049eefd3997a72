# What was applied as a table: the columns of its kind, built in or custom; NAME and AGE of several kinds, whose rows
# stand in the order of the files, and of a scale.
"$kubewatch" sandbox -f printed/objects.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
cat >"$work/front.yaml" <<'Y'
apiVersion: v1
kind: Service
metadata: {name: front, namespace: default}
spec: {clusterIP: None, selector: {app: front}, ports: [{name: http, port: 80}]}
Y
cat >"$work/maps.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
data: {x: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: shop}
Y
cat >"$work/web.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
Y
cat >"$work/scale.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 3}
Y
apply() {
  echo "# $*"
  "$kubewatch" apply-ssa "$@" | sed -E -e 's/ [0-9]+s$/ AGE/' -e 's/ [0-9]+s +/ AGE   /'
}
apply -f "$work/front.yaml" -o table
apply -f "$work/front.yaml" -o wide --show-kind
apply -f printed/teams.yaml -o table
apply -f printed/teams.yaml -o wide
apply -f "$work/maps.yaml" -o table
apply -f "$work/front.yaml" -f printed/teams.yaml -o wide
apply -f "$work/web.yaml"
apply -f "$work/scale.yaml" --subresource scale --force-conflicts -o wide
kill $server
wait $server
