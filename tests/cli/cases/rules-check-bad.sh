"$kubewatch" run-controller check -f rules/bad
