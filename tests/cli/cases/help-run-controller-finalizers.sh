"$kubewatch" run-controller finalizers --help
