# What a kind that is not known needs is not known either. Where it may be missing, what is left out is told.
"$kubewatch" run-controller rbac -f ../../examples/website/rules.yaml
echo "exit $?"
cat > "$work/rules.yaml" <<END
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: widgets}
spec:
  for: {apiVersion: demo.example.com/v1, kind: Widget, optional: true}
  owns: [{apiVersion: apps/v1, kind: Deployment}]
  reconcile: {shell: 'true'}
END
"$kubewatch" run-controller rbac -f "$work/rules.yaml"
