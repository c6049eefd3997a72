# What a controller had recorded half a second before it was killed is replayed.
cp -r ../../examples/website "$work"
"$kubewatch" run-controller -f "$work/website" --sandbox --sandbox-file "$work/website" --socket none \
  --record "$work/r" >/dev/null 2>"$work/log" &
pid=$!
n=0
while [ "$(stat -c %s "$work/r" 2>/dev/null || echo 0)" -lt 100 ] && [ $n -lt 200 ]; do
  n=$((n + 1))
  sleep 0.1
done
kill -9 $pid
"$kubewatch" run-controller replay "$work/r" -f "$work/website" >"$work/said" 2>"$work/error"
echo "exit $?"
grep -E '^(changed|missing|created|failed)' "$work/said"
sed 's/byte [0-9]*/byte N/; s/: [0-9]* events/: N events/' "$work/error"
