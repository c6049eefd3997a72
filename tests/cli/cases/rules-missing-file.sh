"$kubewatch" run-controller -f "$work/absent.yaml"
