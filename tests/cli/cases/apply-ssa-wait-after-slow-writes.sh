# The time of --wait is for what is waited for: writes that took longer than it do not use it up.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
# A second for each write. With more of both where a busy machine did not read in that time.
try() {
  time=$1
  shift
  for name in "$@"; do
    printf -- '---\napiVersion: v1\nkind: Widget\nmetadata: {name: %s, namespace: shop}\n' $name
  done >"$work/all.yaml"
  "$kubewatch" apply-ssa -f "$work/all.yaml" --server "http://127.0.0.1:$(cat "$work/port")/slow" \
    --concurrency 1 --wait --for=create --timeout $time >"$work/printed" 2>"$work/said"
}
try 3s a b c d || try 12s a b c d e f g h i j k l m n
echo "exit $?" >>"$work/printed"
grep -v 'widget/[e-n] ' "$work/printed"
# Which of them are told as they come is a matter of time.
grep -v ': met: ' "$work/said" || :
