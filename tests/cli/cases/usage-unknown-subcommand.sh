"$kubewatch" run-controller chekc -f rules/good.yaml
"$kubewatch" run-controller rules/good.yaml
"$kubewatch" wacth pods
