cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: names}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  owns: [{apiVersion: v1, kind: Secret}]
  reconcile:
    shell: |
      echo '{apiVersion: v1, kind: Secret, metadata: {name: good, namespace: default}}'
      printf -- '---\n{apiVersion: v1, kind: Secret, metadata: {name: a/b, namespace: default}}\n'
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file rules/configmap.yaml --once
