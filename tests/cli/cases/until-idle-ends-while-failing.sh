cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: failing}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile: {shell: 'exit 3'}
  retry: {initial: 500ms, max: 500ms, jitter: 0}
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml --until-idle 1300ms 2>/dev/null
