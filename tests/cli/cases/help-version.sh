"$kubewatch" version --help
