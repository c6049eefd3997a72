#!/bin/sh
# Reports on the ConfigMaps of namespace "report-demo": metrics, and a summary
# patched into the ConfigMap report-demo/config-report if somebody made one.
# Only a change of .data counts. Needs sh and jq.
set -eu

NS=report-demo

if [ "${1:-}" = "--config" ]; then
  # The report itself and the CA bundle every real namespace has are left out
  # by the field selector, so writing the report cannot wake this hook.
  jq -n --arg ns "$NS" '{
    configVersion: "v1",
    onStartup: 20,
    kubernetes: [
      {
        name: "configs",
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: {nameSelector: {matchNames: [$ns]}},
        fieldSelector: {matchExpressions: [
          {field: "metadata.name", operator: "NotEquals", value: "config-report"},
          {field: "metadata.name", operator: "!=", value: "kube-root-ca.crt"}
        ]},
        jqFilter: ".data",
        includeSnapshotsFrom: ["configs"]
      }
    ]
  }'
  exit 0
fi

# Counted per context, not per run: the sums do not depend on how the
# operator batches. No group, so that they are never expired.
jq -c '
  .[]
  | {name: "config_report_contexts_total", action: "add", value: 1,
     labels: {
       source: .binding,
       what: (if .binding == "onStartup" then "Startup"
              elif .type == "Event" then .watchEvent
              else .type end)}}
' "$BINDING_CONTEXT_PATH" >>"$METRICS_PATH"

if jq -e 'any(.[]; .binding == "onStartup")' "$BINDING_CONTEXT_PATH" >/dev/null; then
  echo "config-report: starting"
  # A patch as a string holding YAML, which the documentation permits.
  cat >>"$KUBERNETES_PATCH_PATH" <<EOF
---
operation: MergePatch
apiVersion: v1
kind: ConfigMap
namespace: $NS
name: config-report
ignoreMissingObject: true
mergePatch: |
  data:
    phase: starting
    count: null
EOF
fi

# Nothing more to say when the hook was only started up.
if jq -e 'all(.[]; .binding == "onStartup")' "$BINDING_CONTEXT_PATH" >/dev/null; then
  exit 0
fi

# name, and number of keys, of each ConfigMap there is now.
# filterResult is null for a ConfigMap that has no .data.
rows=$(jq -c '
  [ .[] | select(.binding == "configs") ] | last
  | [ .snapshots.configs[]
      | {name: .object.metadata.name, keys: (.filterResult // {} | length)} ]
  | sort_by(.name)
' "$BINDING_CONTEXT_PATH")

# Everything in one group: the series of a removed ConfigMap goes away.
printf '%s' "$rows" | jq -c --arg ns "$NS" '
  def gauge($name; $value; $labels):
    {group: "config-report", name: $name, action: "set", value: $value, labels: $labels};
  gauge("config_report_configmaps"; length; {target: $ns}),
  (.[] | gauge("config_report_keys"; .keys; {target: $ns, configmap: .name}))
' >>"$METRICS_PATH"

{
  echo '---'
  printf '%s' "$rows" | jq -c --arg ns "$NS" '
    {operation: "MergePatch", apiVersion: "v1", kind: "ConfigMap",
     namespace: $ns, name: "config-report", ignoreMissingObject: true,
     mergePatch: {data: {
       phase: "ready",
       count: (length | tostring),
       keys: (map(.keys) | add // 0 | tostring),
       empty: (map(select(.keys == 0)) | length | tostring),
       names: (map(.name) | join(","))}}}'
} >>"$KUBERNETES_PATCH_PATH"

jq -r '
  .[] | select(.binding == "configs")
  | "config-report: " + (
      if .type == "Event" then "\(.watchEvent) \(.object.metadata.name)"
      else "\(.type) \(.objects | length) object(s)" end)
' "$BINDING_CONTEXT_PATH"
