sed 's/version: v1/version: v2/' ../../examples/types/types.yaml >"$work/v2.yaml"
"$kubewatch" crd-gen merge ../../examples/types/types.yaml "$work/v2.yaml" --storage v2 >"$work/crd.yaml"
grep -c 'storage: false' "$work/crd.yaml"
"$kubewatch" crd-gen merge ../../examples/types/types.yaml "$work/v2.yaml" --storage v3
# Of a folder as well, each file with the one version that it defines.
mkdir "$work/types"
cp ../../examples/types/types.yaml "$work/types/v1.yaml"
mv "$work/v2.yaml" "$work/types"
"$kubewatch" crd-gen merge "$work/types" --storage v2 | cmp - "$work/crd.yaml" && echo same
# What is wrong is told with the file and the CRD.
sed 's/storage: true/storage: "no"/' "$work/crd.yaml" >"$work/wrong.yaml"
"$kubewatch" crd-gen merge "$work/crd.yaml" "$work/wrong.yaml" --storage v2
