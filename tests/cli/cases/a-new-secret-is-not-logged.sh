cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: secrets}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  owns: [{apiVersion: v1, kind: Secret}]
  reconcile:
    shell: |
      echo "made hunter2hunter2" >&2
      echo '{apiVersion: v1, kind: Secret, metadata: {name: pw, namespace: default}, stringData: {p: hunter2hunter2}}'
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml --once
