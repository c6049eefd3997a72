# A hook is run to its end with --once, one that is wrong is named; --dry-run writes nothing.
mkdir -p "$work/hooks"
cat >"$work/hooks/10-mark.sh" <<'HOOK'
#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion":"v1","kubernetes":[{"kind":"ns","nameSelector":{"matchNames":["default"]}}]}'
  exit 0
fi
echo '{"operation":"MergePatch","kind":"Namespace","name":"default","mergePatch":{"metadata":{"labels":{"marked":"yes"}}}}' >"$KUBERNETES_PATCH_PATH"
HOOK
chmod +x "$work/hooks/10-mark.sh"
"$kubewatch" run-controller --compat shell-operator "$work/hooks" --sandbox --dry-run --once 2>/dev/null
echo "exit $?"
cat >"$work/hooks/20-wrong.sh" <<'HOOK'
#!/bin/sh
echo 'configVersion: v1'
echo 'kubernetesMutating: []'
HOOK
chmod +x "$work/hooks/20-wrong.sh"
"$kubewatch" run-controller --compat shell-operator "$work/hooks" --sandbox --once 2>"$work/log"
echo "exit $?"
# How often it ran depends on what came together.
sed 's/^[^ ]* *//' "$work/log" | grep -E 'hook is not run|^error' | sed 's/.*error:/error:/'
grep -c 'run done.*Synchronization of kubernetes.*configured=1' "$work/log"
