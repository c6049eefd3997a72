"$kubewatch" run-controller -f rules/good.yaml --sandbox --leader-elect --lease-duration 10s
