# A server that takes connections and says nothing, and a login that does not come: the time that a
# command was given holds before it knows what kinds there are, too.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill -KILL $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
kill -STOP $server
try() {
  echo "# $*" >&2
  timeout 20 "$kubewatch" "$@" >/dev/null 2>"$work/said" </dev/null
  code=$?
  cat "$work/said" >&2
  echo "# exit $code" >&2
}
every_verb() {
  try wait-condition cm/a --for=create --timeout 1s
  try watch cm --duration 1s
  try watch cm --duration 1s --until condition=Ready
  try reflect cm --once --timeout 1s
  try reflect cm --query --timeout 1s
  try reflect cm --verify --timeout 1s
}
export KUBECONFIG="$work/kc"
every_verb
cat >"$work/login" <<Y
#!/bin/sh
sleep 30
Y
chmod +x "$work/login"
cat >"$work/exec" <<Y
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never}}}]
Y
echo "## a login that does not come" >&2
export KUBECONFIG="$work/exec"
try wait-condition cm/a --for=create --timeout 1s
# Long enough for what is said of a login after 3 s.
try watch cm --duration 8s
