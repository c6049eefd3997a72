"$kubewatch" crd-gen validate --help
