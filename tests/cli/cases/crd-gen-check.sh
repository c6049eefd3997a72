mkdir "$work/crds"
"$kubewatch" crd-gen ../../examples/types/types.yaml -o ../../examples/types/crds --check && echo fresh
sed 's/phase: string/phase: integer/' ../../examples/types/types.yaml | sed 's/ | enum=.*//' >"$work/types.yaml"
"$kubewatch" crd-gen ../../examples/types/types.yaml -o "$work/crds"
"$kubewatch" crd-gen "$work/types.yaml" -o "$work/crds" --check
