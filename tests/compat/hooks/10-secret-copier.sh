#!/usr/bin/env bash
# Copies the Secrets of namespace "default" that carry secret-copier=yes into
# every namespace that carries copy-secrets=yes, and keeps the copies right.
#
# Level-triggered: whatever woke the hook, it compares three snapshots and
# writes the difference. Needs bash and jq; it never talks to the API itself.
set -euo pipefail

print_config() {
  cat <<'YAML'
configVersion: v1
settings:
  executionMinInterval: 1s
  executionBurst: 3
kubernetes:
# What has to be copied.
- name: source-secrets
  apiVersion: v1
  kind: Secret
  namespace:
    nameSelector:
      matchNames: ["default"]
  labelSelector:
    matchLabels:
      secret-copier: "yes"
  jqFilter: |
    {
      namespace: .metadata.namespace,
      name: .metadata.name,
      type: (.type // "Opaque"),
      data: (.data // {})
    }
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [source-secrets, target-namespaces, copies]
  queue: secret-copier

# Where it has to go. Written as an expression, and with the plural as kind.
- name: target-namespaces
  apiVersion: v1
  kind: namespaces
  labelSelector:
    matchExpressions:
    - key: copy-secrets
      operator: In
      values: ["yes"]
  jqFilter: |
    {
      name: .metadata.name,
      leaving: (.metadata.deletionTimestamp != null or .status.phase == "Terminating")
    }
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [source-secrets, target-namespaces, copies]
  queue: secret-copier

# What is already there (all namespaces). Somebody else's change or deletion
# of a copy wakes the hook; the creation of a copy does not.
- name: copies
  apiVersion: v1
  kind: secret
  labelSelector:
    matchLabels:
      secret-copier-managed: "yes"
  executeHookOnSynchronization: false
  executeHookOnEvent: ["Modified", "Deleted"]
  jqFilter: |
    {
      namespace: .metadata.namespace,
      name: .metadata.name,
      source: .metadata.annotations["secret-copier/source"],
      leaving: (.metadata.deletionTimestamp != null),
      type: (.type // "Opaque"),
      data: (.data // {})
    }
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [source-secrets, target-namespaces, copies]
  queue: secret-copier
YAML
}

# One line for every context of the array that does not look as documented.
complaints() {
  jq -r '
    def bad(why): "context \(.i): \(why)";
    if type != "array" or length == 0 then "binding context is not a filled array"
    else
      to_entries[] | {i: .key, c: .value}
      | (if (.c.binding | IN("source-secrets", "target-namespaces", "copies")) | not
         then bad("binding is \(.c.binding)") else empty end),
        (if .c.type == "Synchronization" then
           (if (.c.objects | type) != "array" then bad("objects is no array")
            elif any(.c.objects[]; has("filterResult") | not) then bad("objects[] without filterResult")
            else empty end),
           (if .c.binding == "copies" then bad("Synchronization was switched off") else empty end)
         elif .c.type == "Event" then
           (if (.c.watchEvent | IN("Added", "Modified", "Deleted")) | not
            then bad("watchEvent is \(.c.watchEvent)") else empty end),
           (if (.c.filterResult | type) != "object" then bad("no filterResult") else empty end),
           (if .c.binding == "copies" and .c.watchEvent == "Added"
            then bad("Added was switched off") else empty end)
         else bad("type is \(.c.type)") end),
        (.i as $i | .c.snapshots as $s
         | ("source-secrets", "target-namespaces", "copies")
         | select(($s[.]? | type) != "array") | "context \($i): no snapshot of \(.)")
    end
  ' "$BINDING_CONTEXT_PATH"
}

# One log line for every context; never the data.
describe() {
  jq -r '
    .[] | "secret-copier: " + (
      if .type == "Synchronization"
      then "Synchronization \(.binding) \(.objects | length) object(s)"
      else "Event \(.watchEvent) \(.binding) "
           + (.filterResult | [.namespace, .name] | map(select(. != null)) | join("/"))
      end)
  ' "$BINDING_CONTEXT_PATH"
}

# The operations, one JSON document a line. A snapshot is the state of now, so
# the last one in the array serves for all contexts.
plan() {
  jq -c '
    def id: "\(.namespace)/\(.name)";

    (map(.snapshots) | last) as $now
    | [$now["source-secrets"][].filterResult] as $sources
    | [$now["target-namespaces"][].filterResult | select(.name != "default")] as $namespaces
    | [$now["copies"][].filterResult
       | select(.namespace != "default" and .source != null)] as $copies

    | (reduce $copies[] as $c ({}; .[$c | id] = $c)) as $have
    | [ $sources[] as $s | $namespaces[] | select(.leaving | not)
        | {namespace: .name, name: $s.name, type: $s.type, data: $s.data,
           source: "\($s.namespace)/\($s.name)"} ] as $want
    | ($want | map(id)) as $wanted

    | def write:
        {operation: "CreateOrUpdate",
         object: {
           apiVersion: "v1", kind: "Secret", type: .type, data: .data,
           metadata: {
             namespace: .namespace, name: .name,
             labels: {"secret-copier-managed": "yes"},
             annotations: {"secret-copier/source": .source}}}};
      def drop:
        {operation: "Delete", apiVersion: "v1", kind: "Secret",
         namespace: .namespace, name: .name};
      # CreateOrUpdate is documented as a merge: keys that went away from the
      # source have to be nulled by hand.
      def forget($keys):
        {operation: "MergePatch", apiVersion: "v1", kind: "Secret",
         namespace: .namespace, name: .name, ignoreMissingObject: true,
         mergePatch: {data: (reduce $keys[] as $k ({}; .[$k] = null))}};

      ( $copies[]
        | (.namespace) as $ns | id as $id
        | select(.leaving | not)
        | select($wanted | index([$id]) | not)
        # in a namespace that is going away everything goes by itself
        | select(any($namespaces[]; .name == $ns and .leaving) | not)
        | drop ),
      ( $want[]
        | $have[id] as $old
        | if $old == null then write
          elif $old.leaving then empty          # its Deleted event comes back here
          elif $old.type != .type then drop, write   # .type cannot be changed
          elif $old.data != .data or $old.source != .source then
            (($old.data | keys) - (.data | keys)) as $stale
            | write, (if $stale == [] then empty else forget($stale) end)
          else empty end )
  ' "$BINDING_CONTEXT_PATH"
}

main() {
  local wrong operations count
  wrong=$(complaints)
  if [[ -n $wrong ]]; then
    sed 's/^/secret-copier: bad input: /' <<<"$wrong" >&2
    exit 1
  fi
  describe
  operations=$(plan)
  count=0
  if [[ -n $operations ]]; then
    printf '%s\n' "$operations" >>"$KUBERNETES_PATCH_PATH"
    count=$(wc -l <<<"$operations")
  fi
  echo "secret-copier: $((count)) operation(s)"
}

if [[ ${1:-} == --config ]]; then
  print_config
else
  main
fi
