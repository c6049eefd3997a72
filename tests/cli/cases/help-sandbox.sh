"$kubewatch" sandbox --help
