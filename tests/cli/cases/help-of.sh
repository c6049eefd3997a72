# kubewatch help: a command, a subcommand, a topic, and what is none.
same() {
  "$kubewatch" help "$@" >"$work/a"
  "$kubewatch" "$@" --help >"$work/b"
  cmp "$work/a" "$work/b" && echo "the same: $*"
}
same
same watch
same run-controller test
"$kubewatch" help rules | head -n 3
"$kubewatch" help metrics | grep -A 2 '^kubewatch_runs_total$'
"$kubewatch" help wtach
echo "exit $?"
"$kubewatch" help run-controller tset
echo "exit $?"
"$kubewatch" help version what
echo "exit $?"
"$kubewatch" help trigger
"$kubewatch" lint crds/
"$kubewatch" help rules extra
