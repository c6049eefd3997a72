# finalizers -f asks where the user, or else the rule, says: at the object that is named, in the namespace of -n, in the
# rule's own. What is refused there is told and is no "nothing held": what can be seen is printed, and the exit code is
# not 0. FILE.asked has what went to the server.
perl no_api_server.pl "$work/port" &
server=$!
trap 'kill $server' EXIT
eventually [ -s "$work/port" ]
rule() {
  cat >"$work/$1.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: guard}
spec:
  for: {apiVersion: v1, kind: Widget$2}
  reconcile: {shell: 'true'}
R
}
rule all ''
rule some ', namespaces: [shop, blog]'
rule none ', namespaces: [empty]'
rule lost ', namespaces: [shop, gone, blog]'
try() {
  echo "# $*"
  : >"$work/port.asked"
  "$kubewatch" run-controller finalizers "$@" -s "http://127.0.0.1:$(cat "$work/port")/narrow" \
    >"$work/printed" 2>"$work/told" </dev/null
  code=$?
  cat "$work/printed"
  sed 's/\(in namespace "gone"\): .*/\1: .../' "$work/told"
  # What gets no answer at all may be asked twice.
  uniq "$work/port.asked"
  echo "exit $code"
}
try -f "$work/some.yaml"
try -f "$work/some.yaml" -o json
try -f "$work/some.yaml" -n shop
try -f "$work/some.yaml" -n empty
try -f "$work/some.yaml" widget -n shop
try -f "$work/none.yaml"
try -f "$work/none.yaml" -n shop
try -f "$work/all.yaml"
try -f "$work/all.yaml" -n shop
try -f "$work/some.yaml" -A
try -f "$work/some.yaml" widget/a -n shop
try -f "$work/some.yaml" widget/c -n shop
try -f "$work/some.yaml" widget/a -n blog
try -f "$work/some.yaml" widget/a -n shop --release
try -f "$work/some.yaml" widget/a -A
try -A
# Who is not there for one namespace is there for none: the others are not asked.
try -f "$work/lost.yaml"
