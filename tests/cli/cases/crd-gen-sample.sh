"$kubewatch" crd-gen sample ../../examples/types/types.yaml
echo "exit $?"
"$kubewatch" crd-gen sample ../../examples/types/types.yaml --size minimal -o jsonpath='{.kind}/{.metadata.name}{"\n"}'
"$kubewatch" crd-gen sample ../../examples/types/types.yaml -o name
"$kubewatch" crd-gen sample ../../examples/types/types.yaml -o wrong
echo "exit $?"
