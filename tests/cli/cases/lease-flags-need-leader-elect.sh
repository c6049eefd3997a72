"$kubewatch" run-controller -f rules/good.yaml --sandbox --shards 3
