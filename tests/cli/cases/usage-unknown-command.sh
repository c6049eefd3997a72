"$kubewatch" frobnicate
