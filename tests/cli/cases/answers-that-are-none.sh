# A proxy's page, a Status and a redirect in place of an answer are failures of the server's side: never
# done, never the user's wrong usage, and what waits goes on waiting. Nor is anything decided by an object
# whose content could not be kept.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
try() {
  echo "# $*" >&2
  timeout 100 "$kubewatch" "$@" --server "http://127.0.0.1:$(cat "$work/port")/$mode" \
    >"$work/$mode.printed" 2>"$work/$mode.said" </dev/null
  code=$?
  cat "$work/$mode.printed" >&2
  # How often something is tried again is a matter of time.
  grep -v 'WARN  watch interrupted\|WARN  an object cannot be kept' "$work/$mode.said" >&2
  echo "# exit $code" >&2
}
printf 'apiVersion: v1\nkind: Widget\nmetadata: {name: a, namespace: default}\n' >"$work/a.yaml"
# All of its time passes, the last word: again with more of it where a busy machine did not come to say $1.
within() {
  said=$1
  shift
  for time in 10s 25s; do
    try "$@" $time 2>"$work/$mode.tried"
    grep -q "$said" "$work/$mode.tried" && break
  done
  sed 's/\b25s\b/10s/' "$work/$mode.tried" >&2
}
wrong() {
  echo "## $mode" >&2
  try apply-ssa -f "$work/a.yaml"
  within ': list widgets' wait-condition widget/a --for=create --timeout
  within 'initial list: list widgets' watch widgets --duration
  try reflect widgets --estimate
  within 'initial list: list widgets' reflect widgets --query --timeout
  try version --server-version
  try crd-gen import --builtin widgets --lang cpp
  try apply-ssa -f "$work/a.yaml" --subresource scale
}
deep() {
  echo "## $mode" >&2
  try wait-condition widget/a --for=create --timeout 60s
  try wait-condition widget/a --for=ready --timeout 60s
  try wait-condition widget/a --for=create --fail-if=condition=Stalled --timeout 60s
  try wait-condition widget/a --for='jq=.status==null' --timeout 60s
  within 'cannot be judged' watch widgets --until '.status==null' --duration
  try watch widgets --until create --duration 60s
  within SYNCED watch widgets --until delete --duration
  within 'cannot be judged' watch widgets --when '.status==null' --duration
  within SYNCED watch widgets -o json --duration
  try reflect widgets --query --timeout 60s
  try reflect widgets --verify --timeout 60s
  try version --server-version
}
# Beside each other: most of the time passes with waiting.
modes=
for mode in html status redirect deep; do
  case $mode in
    deep) deep ;;
    *) wrong ;;
  esac 2>"$work/$mode.told" &
  modes="$modes $!"
done
wait $modes
for mode in html status redirect deep; do cat "$work/$mode.told" >&2; done
