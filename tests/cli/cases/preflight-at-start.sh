# The server is asked at the start whether it allows what the rules need, each of it; the sandbox allows everything.
"$kubewatch" run-controller -f rules/log.yaml --sandbox --sandbox-file rules/configmap.yaml --socket none \
  --log-format json -v 8 2>"$work/log" &
controller=$!
asked() {
  grep -o '"body":"{.*SelfSubjectAccessReview.*' "$work/log" |
    sed -n 's/.*resource\\":\\"\([a-z]*\)\\".*verb\\":\\"\([a-z]*\)\\".*/\2 \1/p' | sort -u
}
for _ in $(seq 300); do
  [ "$(asked | grep -c ' configmaps$')" -ge 3 ] && break
  sleep 0.1
done
kill -TERM $controller
wait $controller
echo "exit $?"
asked | grep ' configmaps$'
grep -c 'does not allow' "$work/log" || true
