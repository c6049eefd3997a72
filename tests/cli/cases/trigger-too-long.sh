# What no controller would take is refused before one is asked.
"$kubewatch" run-controller trigger --all --reason "$(head -c 66000 /dev/zero | tr '\0' x)"
