"$kubewatch" run-controller log-level --help
