# A server that is away when a command begins, with a discovery that an earlier one has kept and without: what watches
# waits for it, what ends says so at once, a context that is away leaves the others alone. What no time mends ends all.
serve() {
  rm -f "$work/kc"
  "$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" "$@" >/dev/null 2>&1 &
  server=$!
  eventually [ -s "$work/kc" ]
}
trap 'kill $server 2>/dev/null' EXIT
value() { sed -n "s/.*$1: *\"\\{0,1\\}\\([^\" ,}]*\\).*/\\1/p" "$work/kc" | head -n 1; }
try() {
  echo "# $cache: $*"
  begun=$(date +%s)
  timeout 60 "$kubewatch" "$@" --cache-dir "$work/$cache" </dev/null 2>"$work/said" | grep -v kube-root-ca
  [ $(($(date +%s) - begun)) -lt 15 ] && echo "in time"
  grep '^error\|asking' "$work/said"
}
code() {
  timeout 60 "$kubewatch" "$@" --cache-dir "$work/$cache" </dev/null >/dev/null 2>&1
  echo "exit $?"
}
# The server comes once it was missed.
comes() {
  echo "# $cache: $* until it comes"
  timeout 60 "$kubewatch" "$@" --cache-dir "$work/$cache" </dev/null 2>"$work/said" >"$work/printed" &
  waits=$!
  eventually grep -q refused "$work/said"
  serve --insecure-http --listen "127.0.0.1:$port"
  wait $waits
  echo "exit $?"
  grep -v kube-root-ca "$work/printed"
  kill $server
  wait $server
}

serve --insecure-http --listen 127.0.0.1:0
url=$(value server)
port=${url##*:}
for kind in watch wait reflect; do
  "$kubewatch" reflect cm --query -n default -s "$url" --cache-dir "$work/warm-$kind" >/dev/null
done
cat >"$work/two" <<Y
apiVersion: v1
kind: Config
clusters:
- {name: a, cluster: {server: "$url"}}
- {name: d, cluster: {server: "http://127.0.0.1:1"}}
- {name: t, cluster: {server: "https://127.0.0.1:$port"}}
contexts: [{name: a, context: {cluster: a}}, {name: d, context: {cluster: d}}, {name: t, context: {cluster: t}}]
Y
cache=two
try watch cm --kubeconfig "$work/two" --context d,a -n default --duration 4s -o name
code watch cm --kubeconfig "$work/two" --context d,a -n default --duration 4s -o name
# Nor does one that is no API server at all.
code watch cm --kubeconfig "$work/two" --context t,a -n default --max-events 1 -o name
code watch cm --kubeconfig "$work/two" --context t -n default -o name
kill $server
wait $server

for kept in cold warm; do
  cache=$kept-reflect
  try reflect cm -s "$url" --query --timeout 30s
  code reflect cm -s "$url" --verify --timeout 30s
  cache=$kept-wait
  code wait-condition cm/settings -s "$url" --for=create --timeout 2s
  comes wait-condition cm/settings -n default -s "$url" --for=create --timeout 50s
  cache=$kept-watch
  code watch cm -s "$url" --duration 2s
  comes watch cm/settings -n default -s "$url" -o name --max-events 1
done

# A certificate that nobody trusts.
serve
url=$(value server)
token=$(value token)
"$kubewatch" reflect cm --query -n default -s "$url" --token "$token" --insecure-skip-tls-verify \
  --cache-dir "$work/warm" >/dev/null
for cache in cold warm; do
  try watch cm -s "$url" --token "$token"
  code watch cm -s "$url" --token "$token"
  try wait-condition cm/settings -s "$url" --token "$token" --for=create --timeout 40s
  code wait-condition cm/settings -s "$url" --token "$token" --for=create --timeout 40s
  try reflect cm -s "$url" --token "$token"
  code reflect cm -s "$url" --token "$token"
done 2>&1 | sed "s/$token/TOKEN/"
exit 0
