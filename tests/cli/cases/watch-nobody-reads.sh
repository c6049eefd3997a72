# A reader that is there and does not read: signals and --duration end the watch all the same, and what was not
# written is said.
{
  for i in 1 2 3 4 5; do
    printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s, namespace: default}\n' $i
    printf 'data: {k: %s}\n' "$(head -c 50000 /dev/zero | tr '\0' x)"
  done
} >"$work/objects.yaml"
"$kubewatch" sandbox -f "$work/objects.yaml" --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
mkfifo "$work/pipe"
sleep 250 <>"$work/pipe" 2>>"$work/said" &
holder=$!
trap 'kill $server $holder $watch 2>/dev/null' EXIT
until [ -s "$work/config" ]; do sleep 0.1; done
export KUBECONFIG="$work/config"
begin() {
  "$kubewatch" watch configmaps -o json "$@" >"$work/pipe" 2>>"$work/said" &
  watch=$!
}
drain() { timeout 2 cat "$work/pipe" >"$work/got" || true; }
begin
sleep 3
kill -INT $watch
wait $watch
echo "one signal: $?"
drain
wc -c <"$work/got" | sed 's/[0-9]\{5\}/NNNNN/'
begin
sleep 3
kill -INT $watch
sleep 0.3
kill -TERM $watch
wait $watch
echo "two signals: $?"
drain
begin --duration 2s --checkpoint "$work/point"
wait $watch
echo "duration: $?"
[ -e "$work/point" ] || echo "no checkpoint"
drain
grep -v WARN "$work/said" >&2
