"$kubewatch" --help
