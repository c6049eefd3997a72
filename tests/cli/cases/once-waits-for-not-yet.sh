cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: later}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile:
    shell: |
      [ -e seen ] && exit 0
      : > seen
      printf '{apiVersion: kubewatch.dev/v1, kind: Result, requeueAfter: 1s}'
      exit 75
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml --once
