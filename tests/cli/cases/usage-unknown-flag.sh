"$kubewatch" watch pods --frobnicate
