"$kubewatch" wait-condition pod/a --for=readyish
