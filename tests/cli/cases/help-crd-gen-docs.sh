"$kubewatch" crd-gen docs --help
