# A filter that compares a number with a text: kubectl calls that an error, at once, and so is it told here. A watch
# tells it of each object and goes on, a column of one's own is <none>.
cat >"$work/front.yaml" <<'Y'
apiVersion: v1
kind: Service
metadata: {name: front, namespace: default}
spec: {clusterIP: None, selector: {app: front}, ports: [{name: http, port: 80}, {name: admin, port: 81}]}
Y
"$kubewatch" sandbox -f "$work/front.yaml" --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
quoted='{.spec.ports[?(@.port=="80")].name}'
number='{.spec.ports[?(@.port==80)].name}'
"$kubewatch" reflect svc front --query -o "jsonpath=$quoted"
echo "exit $?"
"$kubewatch" reflect svc front --query -o "jsonpath=$number{\"\\n\"}"
echo "exit $?"
"$kubewatch" reflect svc front --query -o "custom-columns=QUOTED:$quoted,NUMBER:$number"
echo "exit $?"
"$kubewatch" watch svc/front -o "jsonpath=$quoted" --max-events 1
echo "exit $?"
"$kubewatch" wait-condition svc/front "--for=jsonpath=$quoted=http" --timeout 100s
echo "exit $?"
"$kubewatch" wait-condition svc/front "--for=jsonpath=$number=http" --timeout 100s
echo "exit $?"
# What the object may mend is waited for, and told at the end.
"$kubewatch" wait-condition svc/front '--for=jsonpath={.spec.ports[9].name}=http' --timeout 0
echo "exit $?"
kill $server
wait $server
