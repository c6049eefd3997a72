"$kubewatch" reflect pods
