# What is about rules is refused with --compat, and the other way round.
try() {
  "$kubewatch" run-controller "$@" >/dev/null
  echo "exit $?"
}
mkdir "$work/empty"
try
try --hook-timeout 5s -f "$work/none"
try --compat other "$work/empty"
try --compat shell-operator --socket none
try --compat shell-operator --sandbox --once
for flag in "-f $work/none" "--triggers 127.0.0.1:0" "--socket none" "--state $work/state" "--record $work/rec" "--leader-elect" "--shards 2"; do
  # shellcheck disable=SC2086
  try --compat shell-operator "$work/empty" $flag
done
try --compat shell-operator "$work/empty" --sandbox
try --compat shell-operator "$work/none" --sandbox
