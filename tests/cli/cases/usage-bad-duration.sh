"$kubewatch" run-controller -f rules/good.yaml --until-idle tomorrow
