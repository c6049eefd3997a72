"$kubewatch" run-controller runs --help
