# The same wrong input for every verb: the exit code, and what is said. What only one verb can get
# wrong has cases of its own.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
try() {
  echo "# $*" >&2
  timeout 60 "$kubewatch" "$@" >/dev/null 2>"$work/said" </dev/null
  code=$?
  sed 's/ in=[0-9.a-z]*/ in=SOON/' "$work/said" >&2
  echo "# exit $code" >&2
}
cat >"$work/a.yaml" <<Y
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
Y
sed 's/kind: .*/kind: Nonsense/' "$work/a.yaml" >"$work/nonsense.yaml"
printf 'a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n' >"$work/bomb.yaml"
# Wrong usage of the command line alone, the same words as on a server that is there.
echo "## an unknown type" >&2
# Again with more time where a busy machine was not answered in it.
for time in 3s 20s; do
  try watch nonsense --duration $time 2>"$work/tried"
  grep -q 'waiting for it' "$work/tried" && break
done
sed 's/20s/3s/' "$work/tried" >&2
try reflect nonsense --once
try wait-condition nonsense/a --for=create --timeout 0
try apply-ssa -f "$work/nonsense.yaml"
echo "## a bad selector" >&2
try watch cm -l 'tier in (web'
try reflect cm --once -l 'tier in (web'
try wait-condition cm -l 'tier in (web' --for=create
try apply-ssa -f "$work/a.yaml" -l a=b
echo "## a bad jsonpath" >&2
try watch cm -o 'jsonpath={.a[}'
try reflect cm --query -o 'jsonpath={.a[}'
try wait-condition cm/a --for='jsonpath={.a[}=x'
try apply-ssa -f "$work/a.yaml" -o 'jsonpath={.a[}'
echo "## a file that is not there, and one that is a folder" >&2
mkdir "$work/folder"
for file in "$work/absent" "$work/folder"; do
  try watch cm --from-recording "$file"
  try reflect --from "$file" --query
  try reflect cm --query --from-recording "$file"
  try wait-condition -f "$file" --for=create --timeout 0
  try wait-condition cm/a --for=create --from-recording "$file"
  try apply-ssa -f "$file"
  try apply-ssa -f "$work/a.yaml" --record "$work/folder"
done
try watch cm --checkpoint "$work/folder" --duration 1s
echo "## a bomb" >&2
for verb in "watch cm" "reflect cm --once" "wait-condition cm/a --for=create" "apply-ssa -f $work/a.yaml"; do
  try $verb --kubeconfig "$work/bomb.yaml"
done
try wait-condition -f "$work/bomb.yaml" --for=create
try apply-ssa -f "$work/bomb.yaml"
echo "## wrong credentials" >&2
try watch cm --token wrong
try reflect cm --once --token wrong
try wait-condition cm/a --for=create --token wrong
try apply-ssa -f "$work/a.yaml" --token wrong
echo "## nobody there" >&2
for verb in "watch cm --duration 1s" "reflect cm --once" "wait-condition cm/a --for=create --timeout 1s" \
  "apply-ssa -f $work/a.yaml"; do
  try $verb --server http://127.0.0.1:1
done
