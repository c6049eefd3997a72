"$kubewatch" crd-gen merge --help
