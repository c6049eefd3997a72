"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/config" ] && break; sleep 0.1; done
"$kubewatch" watch configmaps -A -o name --kubeconfig "$work/config" \
  --backoff-initial 50ms --backoff-max 50ms -v 6 >"$work/seen" 2>"$work/log" &
watch=$!
"$kubewatch" watch configmaps -A -o name --kubeconfig "$work/config" --duration 12s \
  --backoff-initial 50ms --backoff-max 50ms -v 6 >/dev/null 2>"$work/timed" &
timed=$!
for _ in $(seq 100); do [ -s "$work/seen" ] && break; sleep 0.1; done
# Both watches are open.
for said in log timed; do
  for _ in $(seq 100); do grep -q 'watch=' "$work/$said" && break; sleep 0.1; done
done
kill -KILL $server
for _ in $(seq 100); do [ "$(grep -c interrupted "$work/log")" -ge 2 ] && break; sleep 0.1; done
kill -INT $watch
wait $watch
echo "exit $?"
sed -n 's/.*\(kind=[^ ]*\) \(where="[^"]*"\).*\(so far="[^"]*"\).*/\1 \2 \3/p' "$work/log" | head -n 2
# One that ends by its time does not know what has happened since.
wait $timed
echo "exit $?"
grep -o 'error: timed out: not read within 12s: configmaps, which the server no longer tells of' "$work/timed"
