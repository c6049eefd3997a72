printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec: {for: {apiVersion: v1, kind: ConfigMap}, reconcile: {shell: "true"}, fro: 1}\n' >"$work/rules.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: ControllerTest\nmetadata: {name: a}\ncontroller: rules.yaml\nexpect: {runs: []}\n' >"$work/t.yaml"
"$kubewatch" run-controller test "$work/t.yaml"
