"$kubewatch" crd-gen import --help
