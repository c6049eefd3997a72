"$kubewatch" sandbox --kubeconfig "$work/kc" > /dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/kc" ] && break; sleep 0.1; done
export KUBECONFIG="$work/kc"
"$kubewatch" apply-ssa -f rules/configmap.yaml
"$kubewatch" apply-ssa -f rules/configmap.yaml
sed 's/red/blue/' rules/configmap.yaml | "$kubewatch" apply-ssa -f - --field-manager other -o json
echo "exit $?"
"$kubewatch" apply-ssa -f rules/configmap.yaml -n elsewhere
echo "exit $?"
"$kubewatch" wait-condition configmap/settings -n default '--for=jsonpath={.data.color}=red'
"$kubewatch" wait-condition configmap/absent -n default --for=create --timeout 3s
echo "exit $?"
"$kubewatch" wait-condition configmap/settings -n default '--for=jsonpath={.data.color}=green' --timeout 3s
echo "exit $?"
timeout 5 "$kubewatch" watch configmap/settings -n default -o name
echo "exit $?"
kill $server
wait $server
