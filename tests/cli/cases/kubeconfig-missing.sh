"$kubewatch" watch pods --kubeconfig "$work/absent"
