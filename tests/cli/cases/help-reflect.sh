"$kubewatch" reflect --help
