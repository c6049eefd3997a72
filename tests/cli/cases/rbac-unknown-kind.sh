"$kubewatch" run-controller rbac -f ../../examples/website/rules.yaml
