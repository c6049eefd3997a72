# Nothing in names, values or what the server says of them is interpreted by a terminal; and an
# object that is too large is refused by the server, not by a crash.
"$kubewatch" sandbox --kubeconfig "$work/kc" > /dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a\\u001b[31mb"}}' |
  "$kubewatch" apply-ssa -f -
echo "exit $?"
printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"\\u001b[31m"}}' |
  "$kubewatch" apply-ssa -f - --diff | grep -c "$(printf '\033')"
{
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n  x: '
  head -c 5000000 /dev/zero | tr '\0' x
  echo
} | "$kubewatch" apply-ssa -f - 2> "$work/big"
echo "exit $?"
wc -c < "$work/big" | awk '{print ($1 < 2000) ? "short" : "long"}'
kill $server
wait $server
