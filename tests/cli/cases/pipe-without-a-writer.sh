# A pipe that is named by -f is waited for until somebody writes to it, or a signal ends that; any other file that is one
# and has no writer is refused by its name.
mkfifo "$work/pipe"
opened() { ls -l "/proc/$1/fd" | grep -q "$work/pipe"; }
"$kubewatch" apply-ssa -f "$work/pipe" --dry-run=server &
reader=$!
eventually opened $reader
echo 'kind: ConfigMap' >"$work/pipe"
wait $reader
echo "exit $?"
"$kubewatch" apply-ssa -f "$work/pipe" --dry-run=server &
reader=$!
eventually opened $reader
kill $reader
wait $reader 2>/dev/null  # the shell tells of signals there
echo "exit $?"
"$kubewatch" watch configmaps --kubeconfig "$work/pipe"
echo "exit $?"
