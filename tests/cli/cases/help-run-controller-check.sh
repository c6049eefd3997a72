"$kubewatch" run-controller check --help
