"$kubewatch" help --help
