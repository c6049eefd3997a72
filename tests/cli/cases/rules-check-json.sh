"$kubewatch" run-controller check -f rules/good.yaml -f rules/none.yaml -o json
