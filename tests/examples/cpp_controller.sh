#!/bin/sh
# Runs the program of examples/cpp-controller against a sandbox, as its README says, and looks for what its first
# lines promise. Usage: cpp_controller.sh PATH/TO/kubewatch PATH/TO/notice-controller
set -eu
kubewatch=$1
program=$2
here=$(cd "$(dirname "$0")" && pwd)
example="$here/../../examples/cpp-controller"
. "$here/../cli/eventually.sh"

work=$(mktemp -d)
sandbox=""
controller=""
finish() {
  code=$?
  [ $code = 0 ] || cat "$work/log" >&2
  [ -z "$controller" ] || kill -KILL "$controller" 2>/dev/null || true
  [ -z "$sandbox" ] || kill "$sandbox" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
unset KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
export HOME="$work" KUBECONFIG="$work/kubeconfig"
: >"$work/log"
mkdir "$work/notices"

fail() { echo "$*" >&2; exit 1; }
must() { eventually "$@" || exit 1; }
begin() { "$program" "$work/notices" "$@" 2>>"$work/log" & controller=$!; }
# Well below its 20 s of grace: nothing is under way, so nothing is waited for.
end_by_sigterm() {
  kill -TERM "$controller"
  for _ in $(seq 150); do
    has_ended "$controller" 2>/dev/null && break
    sleep 0.1
  done
  has_ended "$controller" 2>/dev/null || fail "it still runs 15 s after SIGTERM"
  wait "$controller" || fail "SIGTERM: exit $?"
  controller=""
}
api() { curl -sSf --noproxy '*' "$@"; }
# The value at a jq path of the object at an API path.
is() { [ "$(api "$server$1" | jq -r "$2")" = "$3" ]; }
is_gone() { [ "$(curl -s --noproxy '*' -o /dev/null -w '%{http_code}' "$server$1")" = 404 ]; }
child=/api/v1/namespaces/default/configmaps/hello
notice=/apis/demo.example.com/v1/namespaces/default/notices/hello
file="$work/notices/default.hello"

# What is generated is what crd-gen writes.
"$kubewatch" crd-gen "$example/types.yaml" -o "$example/generated" --check
"$kubewatch" crd-gen "$example/types.yaml" --lang cpp -o "$example/generated" --check

"$kubewatch" sandbox --insecure-http --listen 127.0.0.1:0 --kubeconfig "$KUBECONFIG" >"$work/said" 2>>"$work/log" &
sandbox=$!
must grep -q '^listening' "$work/said"
server=$(sed -n 's/^listening on *//p' "$work/said")
"$kubewatch" apply-ssa -f "$example/generated/demo.example.com_notices.yaml" -f "$example/notice.yaml" >/dev/null

begin
must is $child .data.text "Closed on Monday."
must is $notice .status.file "$file"
[ "$(cat "$file")" = "Closed on Monday." ] || fail "the file has another text"
is $notice '.metadata.finalizers[0]' demo.example.com/notice-file || fail "the finalizer is not there"

# Deleted by hand, edited by hand, changed where it should be changed.
api -X DELETE "$server$child" >/dev/null
must is $child .data.text "Closed on Monday."
api -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"data":{"text":"Open"}}' "$server$child" >/dev/null
must is $child .data.text "Closed on Monday."
sed 's/Monday/Tuesday/' "$example/notice.yaml" | "$kubewatch" apply-ssa -f - >/dev/null
must is $child .data.text "Closed on Tuesday."
end_by_sigterm

# Deleted while nobody looked: the finalizer holds it until the next one, here an elected leader, did the work.
api -X DELETE "$server$notice" >/dev/null
[ -f "$file" ] || fail "the file is gone, and nobody ran"
is $notice '.metadata.finalizers[0]' demo.example.com/notice-file || fail "nothing held the notice"
begin --leader-elect
must is_gone $notice
[ ! -e "$file" ] || fail "the notice is gone, and its file is there"
must is_gone $child
end_by_sigterm
is /apis/coordination.k8s.io/v1/namespaces/default/leases/notice-controller '.spec.holderIdentity // ""' "" ||
  fail "the lease was not given back"
