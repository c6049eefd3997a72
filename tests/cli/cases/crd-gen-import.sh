"$kubewatch" crd-gen import ../../examples/types/crds >"$work/types.yaml"
cat "$work/types.yaml"
"$kubewatch" crd-gen "$work/types.yaml" 2>"$work/notes" | diff - ../../examples/types/crds/demo.example.com_mailboxes.yaml && echo the same again
