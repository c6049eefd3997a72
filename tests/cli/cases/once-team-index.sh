"$kubewatch" run-controller -f ../../examples/team-index --sandbox --sandbox-file ../../examples/team-index/namespaces.yaml --once 2>&1 |
  grep -E 'run |error' | grep -v OwnedChanged | sed 's/.*object=/object=/; s/run=.*created/created/' | sort
