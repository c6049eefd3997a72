"$kubewatch" run-controller rbac -f ../../examples/website --name website -n ops --leader-elect
