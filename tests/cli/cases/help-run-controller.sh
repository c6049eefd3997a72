"$kubewatch" run-controller --help
