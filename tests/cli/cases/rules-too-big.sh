head -c 10000000 /dev/zero | tr '\0' '#' > "$work/rules.yaml"
"$kubewatch" run-controller -f "$work/rules.yaml"
