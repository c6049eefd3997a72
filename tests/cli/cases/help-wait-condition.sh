"$kubewatch" wait-condition --help
