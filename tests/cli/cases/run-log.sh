"$kubewatch" run-controller -f rules/log.yaml --sandbox --sandbox-file rules/configmap.yaml --once
