"$kubewatch" crd-gen ../crdgen/types -o "$work/crds"
ls "$work/crds"
"$kubewatch" crd-gen ../crdgen/types --lang cpp -o "$work/crds"
"$kubewatch" crd-gen ../../examples/types/types.yaml | head -12
