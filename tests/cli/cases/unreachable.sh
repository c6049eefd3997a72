"$kubewatch" apply-ssa -f rules/configmap.yaml --server http://127.0.0.1:1
