# The views of one recorded watch, read without a server.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/config" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/config" ]
"$kubewatch" watch configmaps,secrets -n default --kubeconfig "$work/config" -o name \
  --record "$work/recording" >"$work/seen" 2>"$work/log" &
watch=$!
eventually [ -s "$work/seen" ]
cat >"$work/secret.yaml" <<'YAML'
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {password: open-sesame}
YAML
sed 's/open-sesame/close-sesame/' "$work/secret.yaml" >"$work/secret2.yaml"
for file in secret secret2; do
  "$kubewatch" apply-ssa -f "$work/$file.yaml" -n default --kubeconfig "$work/config" >/dev/null
done
eventually at_least 2 secret "$work/seen"
kill -INT $watch
wait $watch
echo "exit $?"
kill $server
replay() {
  "$kubewatch" watch "$@" -n default --from-recording "$work/recording"
  echo "exit $?"
}
replay secrets -o 'custom-columns=NAME:.metadata.name,KIND:.kind' --no-headers=false
replay secrets --diff | sed 's/masked [0-9a-f]*/masked HASH/g'
replay secret/password -A=false -o 'jq=.kind' --watch-only
replay secrets --until '.data.password == "x"' | sed 's, [0-9]*s$, AGE,'
replay secrets --until create -o name
replay pods
grep -c sesame "$work/recording"
