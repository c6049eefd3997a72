"$kubewatch" sandbox --kubeconfig "$work/kc" > /dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
"$kubewatch" apply-ssa -f rules/configmap.yaml
"$kubewatch" apply-ssa -f rules/configmap.yaml
sed 's/red/blue/' rules/configmap.yaml | "$kubewatch" apply-ssa -f - --field-manager other -o json
echo "exit $?"
"$kubewatch" apply-ssa -f rules/configmap.yaml -n elsewhere
echo "exit $?"
"$kubewatch" wait-condition configmap/settings -n default '--for=jsonpath={.data.color}=red'
absent() { "$kubewatch" wait-condition configmap/absent -n default --for=create --timeout "$1s"; }
green() {
  "$kubewatch" wait-condition configmap/settings -n default '--for=jsonpath={.data.color}=green' --timeout "$1s"
}
watch() { timeout "$1" "$kubewatch" watch configmap/settings -n default -o name; }
# Beside each other: each takes all of its time. Again with more of it where a busy machine did not come to say
# what it has read.
beside() {
  for time in 10 40; do
    "$1" $time >"$work/$1.out" 2>"$work/$1.err"
    echo "exit $?" >>"$work/$1.out"
    grep -qF "$2" "$work/$1.out" "$work/$1.err" && break
  done
}
beside absent 'configmaps/absent: absent' &
absent=$!
beside green 'configmaps/settings: waiting' &
green=$!
beside watch 'configmap/settings'
wait $absent $green
for name in absent green watch; do
  cat "$work/$name.err" >&2
  cat "$work/$name.out"
done
kill $server
wait $server
