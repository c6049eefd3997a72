# A rule without `for` has no objects: what asks for a kind says so, and explain --controller explains it.
cat >"$work/rules.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: nightly}
spec:
  schedule: "0 3 1 1 *"
  reconcile: {shell: 'true'}
R
"$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --socket "$work/c.sock" 2>"$work/log" &
controller=$!
ask() {
  subcommand=$1
  shift
  "$kubewatch" run-controller "$subcommand" --socket "$work/c.sock" "$@"
  echo "exit $?"
}
has_run() { ask runs | grep -q done; }
eventually has_run
ask explain --controller nightly | sed "s/ended [0-9a-z.]* ago/ended N ago/; s/ in [0-9][0-9a-z.]*$/ in N/; s#$work/##"
ask explain --controller hourly
ask explain cm/a
ask runs cm/a
ask trigger cm --all
ask explain
kill $controller
wait $controller
