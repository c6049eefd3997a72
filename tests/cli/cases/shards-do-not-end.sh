"$kubewatch" run-controller -f rules/good.yaml --sandbox --leader-elect --shards 2 --once
