# A proxy's page, a Status and a redirect in place of an answer are failures of the server's side: never
# done, never the user's wrong usage, and what waits goes on waiting. Nor is anything decided by an object
# whose content could not be kept.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
try() {
  echo "# $*" >&2
  timeout 60 "$kubewatch" "$@" --server "http://127.0.0.1:$(cat "$work/port")/$mode" \
    >"$work/$mode.printed" 2>"$work/$mode.said" </dev/null
  code=$?
  cat "$work/$mode.printed" >&2
  # How often something is tried again is a matter of time.
  grep -v 'WARN  watch interrupted\|WARN  an object cannot be kept' "$work/$mode.said" >&2
  echo "# exit $code" >&2
}
printf 'apiVersion: v1\nkind: Widget\nmetadata: {name: a, namespace: default}\n' >"$work/a.yaml"
wrong() {
  echo "## $mode" >&2
  try apply-ssa -f "$work/a.yaml"
  try wait-condition widget/a --for=create --timeout 10s
  try watch widgets --duration 10s
  try reflect widgets --estimate
  try reflect widgets --query --timeout 10s
  try version --server-version
  try crd-gen import --builtin widgets --lang cpp
  try apply-ssa -f "$work/a.yaml" --subresource scale
}
deep() {
  echo "## $mode" >&2
  try wait-condition widget/a --for=create --timeout 20s
  try wait-condition widget/a --for=ready --timeout 20s
  try wait-condition widget/a --for=create --fail-if=condition=Stalled --timeout 20s
  try wait-condition widget/a --for='jq=.status==null' --timeout 20s
  try watch widgets --until '.status==null' --duration 10s
  try watch widgets --until create --duration 10s
  try watch widgets --until delete --duration 10s
  try watch widgets --when '.status==null' --duration 10s
  try watch widgets -o json --duration 10s
  try reflect widgets --query --timeout 20s
  try reflect widgets --verify --timeout 20s
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
