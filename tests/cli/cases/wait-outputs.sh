# The report of a wait in each format; what objects say is escaped.
cat >"$work/objects.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: done, namespace: default, labels: {set: one}}
data: {state: done}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: late, namespace: default, labels: {set: one}}
data: {state: "50%\e[31m <red> & \"more\""}
Y
"$kubewatch" sandbox -f "$work/objects.yaml" --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
say() {
  echo "$*"
  echo "$*" >&2
}
for format in text json junit github; do
  say "# $format"
  "$kubewatch" wait-condition cm -l set=one --for='jsonpath={.data.state}=done' --timeout 0 -o $format
  echo "# exit $?"
done | sed -e 's/"elapsedMilliseconds": [0-9]*/"elapsedMilliseconds": N/' -e 's/time="[0-9.]*"/time="N"/g' \
  -e 's/"uid": "[^"]*"/"uid": "UID"/' -e 's/"resourceVersion": "[0-9]*"/"resourceVersion": "N"/'
echo "# met, quiet"
"$kubewatch" wait-condition cm/done --for=ready --quiet
echo "# exit $?"
say "# too few"
"$kubewatch" wait-condition cm -l set=one --for=create --min-count 3 --timeout 0
echo "# exit $?"
say "# none"
"$kubewatch" wait-condition cm -l set=two --for=create --timeout 0
echo "# exit $?"
kill $server
wait $server
