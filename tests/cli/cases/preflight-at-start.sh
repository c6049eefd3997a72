# The server is asked at the start whether it allows what the rules need, each of it, and again for rules that are
# read again; the sandbox allows everything.
cp rules/log.yaml "$work/rules.yaml"
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml --socket none \
  --log-format json -v 8 2>"$work/log" &
controller=$!
asked() {
  grep -o '"body":"{.*SelfSubjectAccessReview.*' "$work/log" |
    sed -n 's/.*resource\\":\\"\([a-z]*\)\\".*verb\\":\\"\([a-z]*\)\\".*/\2 \1/p' | sort -u
}
has_asked() { [ "$(asked | grep -c " $1\$")" -ge "$2" ]; }
eventually has_asked configmaps 3
sed 's/kind: Secret}\]/kind: Secret}, {apiVersion: v1, kind: Service}]/' rules/log.yaml >"$work/rules.yaml"
kill -HUP $controller
eventually has_asked services 6
kill -TERM $controller
wait $controller
echo "exit $?"
asked | grep ' configmaps$'
asked | grep ' services$'
grep -c 'does not allow' "$work/log" || true
