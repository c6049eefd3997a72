cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: slow}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile:
    shell: |
      trap '' TERM
      (trap '' TERM; echo started > started; exec sleep 31) &
      echo \$! > sleeper
      wait
R
export TMPDIR="$work"
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml 2>"$work/log" &
controller=$!
eventually [ -s "$work/started" ]
eventually [ -s "$work/sleeper" ]
kill -TERM $controller
# Two at once would be one; and a moment in which the first would end the hook, if it did.
eventually grep -q "shutting down" "$work/log"
sleep 0.5
kill -0 "$(cat "$work/sleeper")" && echo "the hook still runs after the first signal"
kill -TERM $controller
wait $controller
echo "exit $?"
eventually has_ended "$(cat "$work/sleeper")" || echo "a process is left over"
ls -d "$work"/kubewatch-* 2>/dev/null
true
