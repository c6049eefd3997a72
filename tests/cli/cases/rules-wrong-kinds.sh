# Every command that reads rules says it, and does nothing else.
"$kubewatch" run-controller check -f rules/wrong-kinds.yaml || echo "exit $?"
"$kubewatch" run-controller rbac -f rules/wrong-kinds.yaml || echo "exit $?"
"$kubewatch" run-controller replay recordings/kube-apiserver-1.36/recording -f rules/wrong-kinds.yaml || echo "exit $?"
cp rules/wrong-kinds.yaml "$work/rules.yaml"
cat >"$work/tests.yaml" <<TEST
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: t}
controller: rules.yaml
expect: {runs: []}
TEST
"$kubewatch" run-controller test "$work" || echo "exit $?"
"$kubewatch" run-controller -f rules/wrong-kinds.yaml --sandbox --once
