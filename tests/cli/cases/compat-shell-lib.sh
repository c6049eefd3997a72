# A hook that sources /shell_lib.sh, with ours in its place: run by kubewatch, and then with contexts made by hand.
mkdir -p "$work/hooks"
cat >"$work/hooks/10-sources.sh" <<HOOK
#!/usr/bin/env bash
set -euo pipefail
source "$here/../../packaging/shell_lib.sh"
HOOK
cat >>"$work/hooks/10-sources.sh" <<'HOOK'
say() { echo "$*" >>"$SAID"; }
__config__() {
  cat <<END
configVersion: v1
onStartup: 1
kubernetes:
- {name: spaces, kind: Namespace, nameSelector: {matchNames: [default]}, jqFilter: '{name: .metadata.name, old: false}'}
END
}
__on_startup() { say "startup, of $(context::global::jq length)"; }
__on_kubernetes::spaces::synchronization() {
  say "synchronization of $(context::get objects.0.filterResult.name), $BINDING_CONTEXT_CURRENT_BINDING"
  context::has objects.0.object && say "has the object"
  context::has objects.1 || say "has no other"
  context::is_false objects.0.filterResult.old && say "is not old"
  context::is_true objects.0.filterResult.old || say "is not said to be old"
  context::jq -c '{operation: "MergePatch", kind: "Namespace", name: .objects[0].filterResult.name,
    mergePatch: {metadata: {labels: {seen: "yes"}}}}' >"$KUBERNETES_PATCH_PATH"
}
__on_kubernetes::spaces::added_or_modified() { say "$BINDING_CONTEXT_CURRENT_INDEX: added or modified"; }
__on_kubernetes::spaces::modified() { say "$BINDING_CONTEXT_CURRENT_INDEX: modified $(context::get object.metadata.name)"; }
__on_kubernetes::spaces() { say "$BINDING_CONTEXT_CURRENT_INDEX: other, $(context::get watchEvent)"; }
__on_schedule::nightly() { say "$BINDING_CONTEXT_CURRENT_INDEX: nightly"; }
__on_group::all() {
  say "$BINDING_CONTEXT_CURRENT_INDEX: group with $(context::jq '.snapshots.spaces | length')"
  false
  say "went on after a failure"
}
__main__() { say "$BINDING_CONTEXT_CURRENT_INDEX: main, $(context::get binding)"; }
hook::run "$@"
HOOK
chmod +x "$work/hooks/10-sources.sh"
export SAID="$work/said"
"$kubewatch" run-controller --compat shell-operator "$work/hooks" --sandbox --once 2>"$work/log" || cat "$work/log"
cat "$SAID"
grep -c 'run done.*configured=1' "$work/log"

rm "$SAID"
cat >"$work/contexts" <<'END'
[{"binding": "spaces", "type": "Event", "watchEvent": "Added", "object": {}},
 {"binding": "spaces", "type": "Event", "watchEvent": "Modified", "object": {"metadata": {"name": "a\n'b"}}},
 {"binding": "spaces", "type": "Event", "watchEvent": "Deleted"},
 {"binding": "nightly", "type": "Schedule"}, {"binding": "every 5 minutes", "type": "Schedule"},
 {"binding": "all", "type": "Group", "groupName": "all", "snapshots": {"spaces": [{}, {}]}}]
END
BINDING_CONTEXT_PATH="$work/contexts" "$work/hooks/10-sources.sh"
echo "exit $?"
cat "$SAID"
echo 'no list' >"$work/contexts"
BINDING_CONTEXT_PATH="$work/contexts" "$work/hooks/10-sources.sh" 2>/dev/null || echo "refused"
