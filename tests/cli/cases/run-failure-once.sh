"$kubewatch" run-controller -f rules/failing.yaml --sandbox --sandbox-file rules/configmap.yaml --once
