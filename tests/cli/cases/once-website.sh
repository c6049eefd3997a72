"$kubewatch" run-controller -f ../../examples/website --sandbox --sandbox-file ../../examples/website --once 2>&1 |
  grep -E 'run |error' | grep -v OwnedChanged | sed 's/.*object=/object=/; s/run=.*created/created/' | sort
