"$kubewatch" run-controller test --help
