"$kubewatch" run-controller -f rules/triggers --sandbox --once || echo "exit $?"
"$kubewatch" run-controller -f rules/triggers --sandbox --once --triggers here || echo "exit $?"
"$kubewatch" run-controller -f rules/triggers --sandbox --once --triggers 0.0.0.0:0 || echo "exit $?"
