# Hooks in a test find the API server of their case by their credentials, of every kind, whatever time the case has;
# what they write is there for its expectations, and a failure that is staged meets them.
rule() { # NAME CREDENTIALS MORE
  cat <<RULE
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: $1}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: by=$1}
$3
  reconcile:
    env: {TOOL: "$kubewatch"}
    credentials: $2
    output: log
    shell: |
      "\$TOOL" apply-ssa --field-manager hook -f - <<END
      {apiVersion: v1, kind: Secret, metadata: {name: of-\$KW_NAME, namespace: \$KW_NAMESPACE}, data: {k: dg==}}
      END
      "\$TOOL" wait-condition "secrets/of-\$KW_NAME" -n "\$KW_NAMESPACE" --for=create --timeout 10s
RULE
}
one_test() { # NAME
  cat <<TEST
---
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: $1}
controller: {file: rules.yaml, name: $1}
now: 2001-02-03T04:05:06Z
given:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {by: $1}}}
steps:
  - name: at first
    expect:
      runs: [{outcome: done}]
      objects: [{kind: Secret, name: of-a, data: {k: dg==}}]
      writes: [{verb: apply, kind: Secret, name: of-a, effect: created}]
  - name: much later
    when: [{advance: 30h}, {trigger: {name: a, namespace: default}}]
    expect: {runs: [{outcome: done, reason: External}], writes: []}
  - name: a failure
    when: [{fail: {verb: apply, kind: Secret, code: 403, times: 1}}, {trigger: {name: a, namespace: default}}]
    expect: {runs: [{outcome: failed, times: 1}]}
TEST
}
{
  rule own kubeconfig ""
  rule cache cache "  writes: [{apiVersion: v1, kind: Secret}]"
  rule account "{serviceAccount: robot}" ""
} >"$work/rules.yaml"
for name in own cache account; do one_test "$name"; done >"$work/tests.yaml"
"$kubewatch" run-controller test "$work" | sed 's/([0-9.]*s, /(Ns, /'
