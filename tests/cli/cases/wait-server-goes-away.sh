# A server that goes away while it is waited for: its last state is not the state at the end.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >"$work/sandbox.log" 2>&1 &
sandbox=$!
eventually [ -s "$work/config" ]
: >"$work/log"
"$kubewatch" wait-condition configmap/settings -n default --kubeconfig "$work/config" \
  --for='jsonpath={.data.ready}=true' --timeout 10s -v 6 2>"$work/log" &
waiting=$!
eventually grep -q 'watch=' "$work/log"
kill -KILL $sandbox
wait $waiting
code=$?
grep '^error' "$work/log" | sed 's/then the watch failed: .*/then the watch failed: WHY/'
exit $code
