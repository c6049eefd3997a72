"$kubewatch" run-controller rbac --help
