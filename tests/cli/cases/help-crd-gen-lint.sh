"$kubewatch" crd-gen lint --help
