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
# Beside each other: each takes all of its time.
beside() {
  name=$1
  shift
  "$@" >"$work/$name.out" 2>"$work/$name.err"
  echo "exit $?" >>"$work/$name.out"
}
beside absent "$kubewatch" wait-condition configmap/absent -n default --for=create --timeout 10s &
absent=$!
beside green "$kubewatch" wait-condition configmap/settings -n default '--for=jsonpath={.data.color}=green' --timeout 10s &
green=$!
beside watch timeout 12 "$kubewatch" watch configmap/settings -n default -o name
wait $absent $green
for name in absent green watch; do
  cat "$work/$name.err" >&2
  cat "$work/$name.out"
done
kill $server
wait $server
