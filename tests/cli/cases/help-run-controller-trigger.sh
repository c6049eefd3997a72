"$kubewatch" run-controller trigger --help
