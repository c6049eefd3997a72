# Of many named objects the kind is watched as a whole where that is allowed, else each of them by its name, up to 500;
# and so it is when that is replayed.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
named() {
  count=$1
  shift
  "$kubewatch" watch widgets $(seq -f w%g "$count") -n shop --server "http://127.0.0.1:$(cat "$work/port")/named" \
    --list-strategy unpaged -o name --max-events 17 "$@"
}
named 17 --record "$work/recording" >"$work/seen"
echo "exit $?"
sort "$work/seen"
named 501
echo "exit $?"
"$kubewatch" watch widgets $(seq -f w%g 17) -n shop --from-recording "$work/recording" -o name --max-events 17 \
  >"$work/replayed"
echo "exit $?"
sort "$work/replayed" | tail -n 1
exit 0
