# What stands in a pipe is lost with its reader: the checkpoint does not take it for told.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
trap 'kill $server $holder $slow $reader $watch 2>/dev/null' EXIT
eventually [ -s "$work/config" ]
export KUBECONFIG="$work/config"
apply() {
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\n' "$1" >"$work/$1.yaml"
  "$kubewatch" apply-ssa -f "$work/$1.yaml" >/dev/null
}
mkfifo "$work/pipe" "$work/slow"
# A reader that takes nothing for longer than it is until the checkpoint is written for the first time.
sleep 250 <>"$work/slow" &
holder=$!
"$kubewatch" watch configmaps -o name --checkpoint "$work/late" >"$work/slow" 2>"$work/slow-said" &
slow=$!
began=$(date +%s)
# What a busy machine did not even read in its time (3) saves nothing.
told() {
  for time in 2s 20s; do
    "$kubewatch" watch configmaps -o name --checkpoint "$work/point" --duration $time >"$work/seen" 2>"$work/said"
    code=$?
    [ $code = 3 ] || break
  done
  cat "$work/said" >&2
  cat "$work/seen"
  echo "exit $code"
}
told
apply lost
waiting() {  # FIONREAD
  timeout 5 perl -e 'open(P, "<", shift); $n = pack("i", 0); ioctl(P, 0x541B, $n); print unpack("i", $n)' "$work/pipe"
}
has_something() { [ "$(waiting)" -gt 0 ]; }
begin() {
  sleep 250 <"$work/pipe" &
  reader=$!
  "$kubewatch" watch configmaps -o name --checkpoint "$work/point" >"$work/pipe" 2>"$work/said" &
  watch=$!
  eventually has_something
}
echo "# the reader dies"
begin
kill $reader
wait $watch
code=$?
cat "$work/said" >&2
echo "exit $code"
echo "# the watch is ended, and its reader a moment later"
cp "$work/point" "$work/before"
# Again where a busy machine took longer for that moment than the watch waits.
for _ in 1 2 3; do
  begin
  kill $watch
  sleep 0.2
  kill $reader
  wait $watch
  code=$?
  cmp -s "$work/point" "$work/before" && break
  cp "$work/before" "$work/point"
done
cat "$work/said" >&2
echo "exit $code"
cmp "$work/point" "$work/before"
told
told
echo "# the reader takes nothing, and then all"
until [ $(($(date +%s) - began)) -gt 35 ]; do sleep 1; done
[ -e "$work/late" ] && echo "saved before it was read"
cat <"$work/slow" >"$work/taken" &
cat=$!
eventually [ -s "$work/late" ]
kill $slow
wait $slow
echo "exit $?"
kill $cat $holder
sort "$work/taken"
exit 0
