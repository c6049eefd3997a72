"$kubewatch" crd-gen --help
