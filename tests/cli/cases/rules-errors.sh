"$kubewatch" run-controller -f rules/bad
