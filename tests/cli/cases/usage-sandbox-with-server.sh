"$kubewatch" run-controller -f rules/good.yaml --sandbox --kubeconfig "$work/other" --once
