"$kubewatch" run-controller test ../../examples/website --case 'a website'
