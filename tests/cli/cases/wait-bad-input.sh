# What is wrong before anything is asked of a server, and what a server refuses.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
try() {
  echo "# $*" >&2
  "$kubewatch" wait-condition "$@" </dev/null
  echo "# exit $?" >&2
}
try
try cm/settings
try cm --for=create
try cm/settings --for='jsonpath={.data[}=x'
try cm/settings --for='jsonpath={.data.color}='
try cm/settings --for='jq=.data | tostring |'
try cm/settings --for=ready --fail-if=soon
try cm/settings --for=delete --for=ready
try cm/settings --for=ready --hold 1m --timeout 10s
try cm/settings --for=ready --min-count 2
try cm -l 'a=(b' --for=ready
try cm --field-selector 'metadata.name' --for=ready
try -f "$work/absent.yaml" --for=ready
printf 'a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\ng: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n' >"$work/bomb.yaml"
try -f "$work/bomb.yaml" --for=ready
try cm/settings --for=ready --timeout soon
try cm/settings --for=ready -o yaml
try configmapz/settings --for=ready --timeout 0
try configmapz/settings --for=delete
try cm/settings --field-selector status.phase=x --for=create
try cm --field-selector status.phase=x --for=create
try cm --all -l a=b --for=create
printf 'apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nmetadata: {name: r}\n' >"$work/review.yaml"
try -f "$work/review.yaml" --for=create
try cm/settings --for='jsonpath={.data}=x'
try cm/settings --for=create --token wrong
try cm/settings --for=create --timeout 1s --server http://127.0.0.1:1
kill $server
wait $server
