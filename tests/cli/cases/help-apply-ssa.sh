"$kubewatch" apply-ssa --help
