"$kubewatch" run-controller -f ../../examples/website --sandbox --sandbox-file ../../examples/website \
  --leader-elect --identity me --once 2>&1 | grep -E 'leading|error|warn' | sed 's/^[^ ]* *//'
