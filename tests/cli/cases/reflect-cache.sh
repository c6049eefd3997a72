# One cache over its life: figures, objects, a saved file without a server, a server of its own.
cat > "$work/objects.yaml" <<Y
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default, labels: {app: web}}
data: {k: one}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: default, labels: {app: db}}
data: {k: two}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default}
stringData: {password: hunter2}
Y
"$kubewatch" sandbox -f "$work/objects.yaml" --kubeconfig "$work/sandbox" > "$work/said" 2>&1 &
sandbox=$!
reader=
trap 'kill $sandbox $reader 2> /dev/null' EXIT
eventually [ -s "$work/said" ]
export KUBECONFIG="$work/sandbox"
"$kubewatch" reflect configmaps,secrets --once |
  sed -e 's/RSS.*/RSS/' -e 's/ [0-9.]*s$/ LAG/' -e 's/[0-9]\{3,\}/N/g' -e 's/   *\([A-Z0-9]\)/ \1/g'
"$kubewatch" reflect configmaps --query -o name --timeout 0
"$kubewatch" reflect configmaps --query -o name --sort-by '{.metadata.labels.app}'
"$kubewatch" reflect configmaps --query --jq .data.k --sort-by '{.metadata.labels.app}'
"$kubewatch" reflect configmaps -l app=web --query --jq .data.k
"$kubewatch" reflect configmaps b --query -o yaml | grep -v -e uid -e Timestamp
"$kubewatch" reflect configmaps zz --query
echo "exit $?"
"$kubewatch" reflect frobs --once
echo "exit $?"
# That a port is taken is nothing about a server that cannot be reached.
taken=$(sed -n 's#^listening on https://##p' "$work/said")
"$kubewatch" reflect configmaps --serve "$taken"
echo "exit $?"
"$kubewatch" reflect configmaps,secrets --verify
echo "exit $?"
"$kubewatch" reflect configmaps --estimate | head -n 1
"$kubewatch" reflect configmaps,secrets --once --snapshot "$work/cache" > /dev/null
ls -l "$work/cache" | cut -c1-10
"$kubewatch" reflect configmaps --once -o name --snapshot "$work/printed"
"$kubewatch" reflect configmaps --serve 127.0.0.1:0 --kubeconfig-out "$work/reader" \
  > "$work/serving" 2> "$work/status" &
reader=$!
eventually [ -s "$work/reader" ]
sed 's/:[0-9]*$/:PORT/' "$work/serving"
eventually env KUBECONFIG="$work/reader" "$kubewatch" reflect configmaps --query -o name
KUBECONFIG="$work/reader" "$kubewatch" reflect secrets --query -o name --timeout 60s 2> "$work/refused"
echo "exit $?"
grep '^error' "$work/refused" >&2
echo 'my: production' > "$work/mine"
"$kubewatch" reflect configmaps --serve 127.0.0.1:0 --kubeconfig-out "$work/mine"
echo "exit $?"
kill "$reader"
wait "$reader"
echo "exit $?"
[ -e "$work/reader" ] && echo "the kubeconfig was left behind"
kill "$sandbox"
wait "$sandbox"
sandbox=
export KUBECONFIG="$work/none"
"$kubewatch" reflect --from "$work/cache" --query -o name
"$kubewatch" reflect --from "$work/printed" --query -o name
"$kubewatch" reflect secrets --from "$work/cache" --query --jq .data
"$kubewatch" reflect pods --from "$work/cache" --query
echo "exit $?"
trap - EXIT
