"$kubewatch" completion --help
