"$kubewatch" run-controller explain --help
