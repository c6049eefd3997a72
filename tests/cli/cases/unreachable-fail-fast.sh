"$kubewatch" run-controller -f rules/good.yaml --server http://127.0.0.1:1 --fail-fast
