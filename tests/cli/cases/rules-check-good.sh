"$kubewatch" run-controller check -f rules/good.yaml
