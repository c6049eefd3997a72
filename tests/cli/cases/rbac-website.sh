"$kubewatch" run-controller rbac -f ../../examples/website --name website -n ops --leader-elect
"$kubewatch" run-controller rbac -f ../../examples/website --name website -o name
"$kubewatch" run-controller rbac -f ../../examples/website --name website -o custom-columns=KIND:.kind,NAME:.metadata.name
