"$kubewatch" run-controller queue --help
