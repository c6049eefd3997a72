"$kubewatch" wait-condition pod/a --for=ready
