"$kubewatch" crd-gen sample --help
