"$kubewatch" run-controller retry --help
