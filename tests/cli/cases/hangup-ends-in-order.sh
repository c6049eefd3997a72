# A terminal that is closed ends what runs in it as SIGTERM does: files are written and taken away, the code is 0.
# Under nohup it is not heard.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/kc" ] && break; sleep 0.1; done
export KUBECONFIG="$work/kc"
"$kubewatch" reflect cm --serve 127.0.0.1:0 --kubeconfig-out "$work/reader" --snapshot "$work/snapshot" >/dev/null 2>&1 &
reflect=$!
for _ in $(seq 100); do [ -s "$work/reader" ] && break; sleep 0.1; done
kill -HUP $reflect
wait $reflect
echo "reflect: exit $?, reader $(ls "$work" | grep -c reader), snapshot $(ls "$work" | grep -c '^snapshot$')"
"$kubewatch" watch cm -o name >"$work/names" 2>/dev/null &
watch=$!
for _ in $(seq 100); do [ -s "$work/names" ] && break; sleep 0.1; done
kill -HUP $watch
wait $watch
echo "watch: exit $?"
nohup "$kubewatch" watch cm -o name >"$work/more" 2>/dev/null &
watch=$!
for _ in $(seq 100); do [ -s "$work/more" ] && break; sleep 0.1; done
kill -HUP $watch
sleep 0.5
kill -0 $watch && echo "nohup: goes on"
kill -TERM $watch
wait $watch
kill -HUP $server
wait $server
echo "sandbox: exit $?"
