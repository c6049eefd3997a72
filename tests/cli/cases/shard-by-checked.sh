"$kubewatch" run-controller -f rules/good.yaml --sandbox --leader-elect --shard-by 'namespace=a;a'
