# Of the cases about masking: a sandbox, a Secret, and every verb at -v 9 with what it says in $work/log.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
for _ in $(seq 100); do [ -s "$work/kc" ] && break; sleep 0.1; done
export KUBECONFIG="$work/kc"
token=$(sed -n 's/.*token: *"\{0,1\}\([^" ,}]*\).*/\1/p' "$work/kc" | head -n 1)
[ ${#token} -gt 15 ] || echo "no token in the sandbox's kubeconfig"
password=open-sesame-in-secret
encoded=$(printf %s "$password" | base64)
cat >"$work/secret.yaml" <<Y
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default}
stringData: {password: $password}
Y
run() {
  echo "# $1" >>"$work/log"
  # Again where a busy machine did not even read in its time what was asked.
  for _ in 1 2 3; do
    timeout 60 "$kubewatch" "$@" >"$work/printed" 2>"$work/told" </dev/null
    code=$?
    cat "$work/told" >>"$work/log"
    [ $code = 3 ] && grep -q 'not read within\|timed out: no answer from' "$work/told" || break
  done
  echo "$*: exit $code" | sed "s#$password#PASSWORD#"
}
verbs() {
  run watch secrets --duration 3s -o name -v 9 "$@"
  run reflect secrets --once --log-format json -v 9 "$@"
  run wait-condition secret/s --for=create --timeout 0 -v 9 "$@"
  run apply-ssa -f "$work/secret.yaml" -v 9 "$@"
}
