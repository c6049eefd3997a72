# What may not be read holds back neither what is saved of the others nor the line that says how they stand.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server $reflect 2>/dev/null' EXIT
eventually [ -s "$work/port" ]
"$kubewatch" reflect widgets -n shop,default --snapshot "$work/saved" --snapshot-interval 200ms \
  -s "http://127.0.0.1:$(cat "$work/port")/narrow" 2>"$work/said" &
reflect=$!
eventually [ -s "$work/saved" ]
eventually grep -q '^widgets in shop' "$work/said"
rm -f "$work/saved"
kill -TERM $reflect
wait $reflect
echo "exit $?"
grep -o '^widgets in shop 2, widgets in default 0 (failing)' "$work/said"
grep -o 'caches that may not be read.*' "$work/said" | sort -u
"$kubewatch" reflect --from "$work/saved" --query -o name
# What is still to come does: the file may hold it from the last time.
cp "$work/saved" "$work/before"
"$kubewatch" reflect widgets -n shop,gone --snapshot "$work/saved" --snapshot-interval 200ms \
  -s "http://127.0.0.1:$(cat "$work/port")/narrow" 2>"$work/said" &
reflect=$!
eventually grep -q 'not saved: widgets in gone file' "$work/said"
kill -TERM $reflect
wait $reflect
echo "exit $?"
grep -o 'the cache is not complete, and was not saved: widgets in gone$' "$work/said"
cmp "$work/saved" "$work/before" && echo kept
