"$kubewatch" watch --help
