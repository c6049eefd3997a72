sed 's/version: v1/version: v2/' ../../examples/types/types.yaml >"$work/v2.yaml"
"$kubewatch" crd-gen merge ../../examples/types/types.yaml "$work/v2.yaml" --storage v2 >"$work/crd.yaml"
grep -c 'storage: false' "$work/crd.yaml"
"$kubewatch" crd-gen merge ../../examples/types/types.yaml "$work/v2.yaml" --storage v3
