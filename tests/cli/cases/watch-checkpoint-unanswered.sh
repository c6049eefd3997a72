# A checkpoint that was loaded is no answer of the server: a watch that was told nothing in its time says so.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
trap 'kill -KILL $server 2>/dev/null' EXIT
eventually [ -s "$work/config" ]
export KUBECONFIG="$work/config"
# What a busy machine did not even read in its time (3) saves nothing.
for time in 2s 20s; do
  "$kubewatch" watch configmaps -A -o name --checkpoint "$work/state" --duration $time >"$work/seen" 2>"$work/told"
  code=$?
  [ $code = 3 ] || break
done
cat "$work/told" >&2
sort "$work/seen"
echo "exit $code"
# It is there and has nothing new to tell.
for time in 2s 20s; do
  "$kubewatch" watch configmaps -A -o name --checkpoint "$work/state" --duration $time 2>"$work/told"
  code=$?
  [ $code = 3 ] || break
done
cat "$work/told" >&2
echo "exit $code"
# It takes connections and says nothing. What kinds it has is known from before.
kill -STOP $server
timeout 60 "$kubewatch" watch configmaps -A -o name --checkpoint "$work/state" --duration 2s
echo "exit $?"
