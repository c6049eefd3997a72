printf 'apiVersion: kubewatch.dev/v1\nkind: "Controller\n' > "$work/rules.yaml"
"$kubewatch" run-controller -f "$work/rules.yaml"
