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
eventually [ -s "$work/config" ]
export KUBECONFIG="$work/config"
begin() {
  "$kubewatch" watch configmaps -o json "$@" >"$work/pipe" 2>>"$work/said" &
  watch=$!
}
waiting() { perl -e '$n = pack("i", 0); ioctl(STDIN, 0x541B, $n); print unpack("i", $n)' <"$work/pipe"; }  # FIONREAD
# A pipe takes 64 KiB: from then on the watch waits for its reader. It has a moment to queue what comes behind.
is_full() { [ "$(waiting)" -ge 60000 ]; }
until_full() {
  eventually is_full
  sleep 1
}
# Once the watch has ended.
drain() { timeout 20 head -c "$(waiting)" "$work/pipe" >"$work/got"; }
begin
until_full
kill -INT $watch
wait $watch
echo "one signal: $?"
drain
wc -c <"$work/got" | sed 's/[0-9]\{5\}/NNNNN/'
# Again where the second one came when the first had been obeyed: the shell may wait for its turn.
cp "$work/said" "$work/before"
for _ in 1 2 3; do
  begin
  until_full
  kill -INT $watch
  sleep 0.3
  kill -TERM $watch 2>/dev/null
  wait $watch
  code=$?
  drain
  [ $code = 1 ] || break
  cp "$work/before" "$work/said"
done
echo "two signals: $code"
# Again with more time where a busy machine had not read and queued everything in it.
cp "$work/said" "$work/before"
for time in 6s 30s; do
  cp "$work/before" "$work/said"
  rm -f "$work/point"
  begin --duration $time --checkpoint "$work/point"
  wait $watch
  code=$?
  drain
  [ "$(grep -c ': 5 lines were not written' "$work/said")" = 2 ] && break
done
echo "duration: $code"
[ -e "$work/point" ] || echo "no checkpoint"
grep -v WARN "$work/said" >&2
