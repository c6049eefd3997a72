"$kubewatch" crd-gen sample ../../examples/types/types.yaml
echo "exit $?"
