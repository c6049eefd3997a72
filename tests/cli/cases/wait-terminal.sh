# On a terminal a table that is drawn anew and taken away; where the terminal is dumb, and in a
# pipe, lines without escapes. The table's redraws depend on time, so what is shown is that there
# were some, and what is left at the end.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
command="$kubewatch wait-condition cm/settings cm/absent -n default --for=create --timeout 10s"
on_terminal() {
  TERM=$1 script -qec "stty cols 70 rows 20; $command" /dev/null </dev/null | tr -d '\r'
}
escape=$(printf '\033')
# Beside each other: what is waited for never comes.
on_terminal xterm >"$work/xterm" &
xterm=$!
on_terminal dumb >"$work/dumb" &
dumb=$!
TERM=xterm $command >"$work/pipe" 2>&1
wait $xterm $dumb
echo "# xterm: the table was drawn, and taken away by its lines"
grep -c "waiting for create: 1 of 2 objects is as asked" "$work/xterm" >"$work/heads"
[ "$(cat "$work/heads")" -ge 1 ] && echo drawn
grep -q "${escape}\[3A" "$work/xterm" && echo "taken away"
sed "s/.*${escape}\[J//" "$work/xterm" | grep "^configmap/\|^error\|^  wanted"
echo "# dumb"
grep -q "$escape" "$work/dumb" && echo "escapes on a dumb terminal"
sort "$work/dumb"
echo "# a pipe"
sort "$work/pipe"
kill $server
wait $server
