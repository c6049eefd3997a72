# What a controller had recorded half a second before it was killed is replayed.
cp -r ../../examples/website "$work"
"$kubewatch" run-controller -f "$work/website" --sandbox --sandbox-file "$work/website" --socket none \
  --record "$work/r" >/dev/null 2>"$work/log" &
pid=$!
# It is not in the middle of a block.
has_recorded() {
  size=$(stat -c %s "$work/r")
  sleep 0.3
  [ "$size" -ge 100 ] && [ "$(stat -c %s "$work/r")" = "$size" ]
}
eventually has_recorded
kill -9 $pid
"$kubewatch" run-controller replay "$work/r" -f "$work/website" >"$work/said" 2>"$work/error"
echo "exit $?"
grep -E '^(changed|missing|created|failed)' "$work/said"
sed 's/byte [0-9]*/byte N/; s/: [0-9]* events/: N events/' "$work/error"
