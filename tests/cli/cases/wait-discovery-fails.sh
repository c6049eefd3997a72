# What is no API server, or one that is out of order, is told at once and waited for, as a kind is whose group does not
# answer; and of no kind that is not known nobody says that an object is not there, or gone.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
printf 'apiVersion: ex.io/v1\nkind: Widget\nmetadata: {name: w1, namespace: shop}\n' >"$work/widget.yaml"
at() {
  where=$1
  shift
  "$kubewatch" wait-condition -s "http://127.0.0.1:$(cat "$work/port")/$where" --token x "$@" </dev/null
}
# The same where the time is short, and again where a busy machine got no answer at all within it.
shortly() {
  for _ in 1 2 3; do
    at "$@" >"$work/printed" 2>"$work/told"
    code=$?
    grep -q 'no answer from' "$work/printed" "$work/told" || break
  done
  cat "$work/told" >&2
  cat "$work/printed"
  return $code
}
for where in all/500 all/redirect all/html; do
  for goal in create delete; do
    echo "# $where $goal" >&2
    shortly $where cm/x --for=$goal --timeout 2s
    echo "# exit $?" >&2
  done
done
# Nor is a type of a file gone, or kept as missing, where what is answered under 200 is no discovery.
for where in all/status all/login all/nothing; do
  for goal in create delete; do
    echo "# $where $goal" >&2
    shortly $where -f "$work/widget.yaml" --for=$goal --timeout 2s
    echo "# exit $?" >&2
  done
done
# Said once, of however many.
echo "# all/html of several" >&2
shortly all/html cm/x cm/y secret/z --for=create --timeout 2s
echo "# exit $?" >&2
[ -e "$work/.kube/cache/kubewatch" ] && ls "$work/.kube/cache/kubewatch" >&2
# A server that is busy is asked again until the deadline.
echo "# all/503" >&2
shortly all/503 cm/x --for=create --timeout 2s -o json | grep -E 'exitCode|outcome'
shortly all/503 -f "$work/widget.yaml" --for=create --timeout 2s
echo "# exit $?" >&2
for goal in create delete; do
  echo "# silent $goal" >&2
  shortly silent -f "$work/widget.yaml" --for=$goal --timeout 2s
  echo "# exit $?" >&2
  shortly silent -f "$work/widget.yaml" --for=$goal --timeout 2s -o json | grep -E 'exitCode|outcome|"state"'
done
# The same where a word names the group; a word without one is of no kind that the server has.
for word in widgets.ex.io/w1 widgets.v1.ex.io/w1 gadgets/w1; do
  for goal in create delete; do
    echo "# silent $word $goal" >&2
    shortly silent $word --for=$goal --timeout 2s
    echo "# exit $?" >&2
  done
done
# The group answers after all. What is looked into while it may not have been opened yet is begun empty.
later() {
  rm -f "$work/port.answers"
  : >"$work/said"
  at silent -f "$work/widget.yaml" --for=delete --timeout 60s 2>"$work/said" &
  waits=$!
  eventually grep -q 'asking for it again' "$work/said"
  printf '%s' "$1" >"$work/port.answers.new"
  mv "$work/port.answers.new" "$work/port.answers"
  wait $waits
  echo "# $2: exit $?" >&2
  grep -v 'asking for it again' "$work/said" >&2
}
later '' 'it has no such kind'
later '{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["get","list","watch"]}' \
  'it has the kind, and no such object'
# A type was not there, and the server has hung since: that is what is known at the end.
: >"$work/said"
at silent nope/x --for=create --timeout 8s 2>"$work/said" &
waits=$!
eventually grep -q 'asking for it again' "$work/said"
kill -STOP $server
wait $waits
echo "# hangs: exit $?" >&2
kill -CONT $server
cat "$work/said" >&2
exit 0
