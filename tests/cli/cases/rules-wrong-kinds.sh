"$kubewatch" run-controller check -f rules/wrong-kinds.yaml || echo "exit $?"
"$kubewatch" run-controller -f rules/wrong-kinds.yaml --sandbox --once
