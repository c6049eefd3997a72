"$kubewatch" run-controller -f rules/good.yaml --check
