printf 'kind: ConfigMap\nmetadata: {name: a}\n' > "$work/a.yaml"
"$kubewatch" apply-ssa -f "$work/a.yaml" --server http://127.0.0.1:1
