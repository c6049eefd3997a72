"$kubewatch" crd-gen diff --help
