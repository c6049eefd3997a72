# What may not be read ends a command at once: it is not announced before as something that is tried again.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
for job in --once --query --verify ""; do
  "$kubewatch" reflect widgets $job --server "http://127.0.0.1:$(cat "$work/port")/named" 2>&1
  echo "exit $?"
done
