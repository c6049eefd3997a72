"$kubewatch" version
