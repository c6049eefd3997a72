cat > "$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: ghost}
spec:
  for: {apiVersion: ghost.example.com/v1, kind: Ghost}
  reconcile: {shell: 'true'}
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --once
