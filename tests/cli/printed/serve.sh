# Starts a sandbox with the objects of this folder; sets $tool, $server and KUBECONFIG. Sourced.
tool="$(dirname "$kubewatch")/../tests/cli/printer_tool"
"$kubewatch" sandbox -f printed/objects.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ -s "$work/kc" ] && break; sleep 0.1; done
export KUBECONFIG="$work/kc"
"$kubewatch" apply-ssa -f printed/teams.yaml >/dev/null
# Ages are those of the machine; the configmap that each namespace has from the server is passed over.
get() {
  echo "\$ get $*"
  "$tool" "$@" 2>&1 | sed -E -e 's/ ([0-9]+[smhd])+$/ AGE/' -e 's/ ([0-9]+[smhd])+( +[^ ])/ AGE\2/' \
    -e 's/ AGE +([^ ])/ AGE   \1/' -e '/kube-root-ca/d'
}
# The same with the exit code: for what fails.
code() {
  echo "\$ get $*"
  "$tool" "$@" 2>&1
  echo "exit $?"
}
