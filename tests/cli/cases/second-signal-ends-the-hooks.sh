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
for _ in $(seq 100); do [ -s "$work/started" ] && [ -s "$work/sleeper" ] && break; sleep 0.1; done
kill -TERM $controller
# Two at once would be one; and a moment in which the first would end the hook, if it did.
for _ in $(seq 300); do grep -q "shutting down" "$work/log" && break; sleep 0.1; done
sleep 0.5
kill -0 "$(cat "$work/sleeper")" && echo "the hook still runs after the first signal"
kill -TERM $controller
wait $controller
echo "exit $?"
for _ in $(seq 50); do kill -0 "$(cat "$work/sleeper")" 2>/dev/null || break; sleep 0.1; done
kill -0 "$(cat "$work/sleeper")" 2>/dev/null && echo "a process is left over"
ls -d "$work"/kubewatch-* 2>/dev/null
true
