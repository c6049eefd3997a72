# A path to force may be written as a line of what was configured has it, or as conflicts do; one that names no
# conflict is told where conflicts are left.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
map() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k.2: %s, b: %s}\n' "$1" "$1"; }
apply() {
  map "$1" | "$kubewatch" apply-ssa -f - --field-manager "$2" "$3" "$4" 2>&1
  echo "exit $?"
}
apply red one --concurrency 1
apply green one --concurrency 1
apply blue two '--force-conflicts=.data["k.2"]' --force-conflicts=data.none
apply blue two '--force-conflicts=.data["k.2"]' --force-conflicts=.data.b
apply red one --force-conflicts=.data.k.2 '--force-conflicts=["data"].b'
exit 0
