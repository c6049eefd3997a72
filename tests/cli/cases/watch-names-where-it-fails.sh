"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/config" ]
"$kubewatch" watch configmaps -A -o name --kubeconfig "$work/config" \
  --backoff-initial 50ms --backoff-max 50ms -v 6 >"$work/seen" 2>"$work/log" &
watch=$!
"$kubewatch" watch configmaps -A -o name --kubeconfig "$work/config" --duration 12s \
  --backoff-initial 50ms --backoff-max 50ms -v 6 >/dev/null 2>"$work/timed" &
timed=$!
eventually [ -s "$work/seen" ]
# Both watches are open.
for said in log timed; do
  eventually grep -q 'watch=' "$work/$said"
done
kill -KILL $server
eventually at_least 2 interrupted "$work/log"
kill -INT $watch
wait $watch
echo "exit $?"
sed -n 's/.*\(kind=[^ ]*\) \(where="[^"]*"\).*\(so_far="[^"]*"\).*/\1 \2 \3/p' "$work/log" | head -n 2
# One that ends by its time does not know what has happened since.
wait $timed
echo "exit $?"
grep -o 'error: timed out: not read within 12s: configmaps, which the server no longer tells of' "$work/timed"
