printf 'apiVersion: kubewatch.dev/v1\nkind: ControllerTest\nmetadata: {name: a}\ncontroller: none.yaml\nwhen: [{jump: 1m}]\n' >"$work/t.yaml"
"$kubewatch" run-controller test "$work/t.yaml"
