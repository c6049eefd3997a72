"$kubewatch" run-controller replay --help
