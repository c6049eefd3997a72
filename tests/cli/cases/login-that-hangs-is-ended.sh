# A login that does not come: nothing was sent, so one signal ends apply-ssa, and the program that should log in with it.
# With two the program is ended as well, whatever else was to be waited for.
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill -KILL $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
# What kinds there are is known from here on: the first request is one of the apply.
"$kubewatch" apply-ssa -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null || exit 1
cat >"$work/login" <<L
#!/bin/sh
sleep 1000 &
echo \$! >"$work/pid"
wait
L
chmod +x "$work/login"
sed 's|token: .*|exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never}|' \
  "$work/kc" >"$work/exec"
# $1: the signals, then the flags of the apply.
ends_by() {
  signals=$1
  shift
  rm -f "$work/pid"
  "$kubewatch" apply-ssa -f rules/configmap.yaml --kubeconfig "$work/exec" "$@" >"$work/said" 2>&1 &
  apply=$!
  eventually [ -s "$work/pid" ]
  for signal in $signals; do kill -$signal $apply; done
  wait $apply 2>/dev/null  # where the shell says by what it ended
  echo "# $signals $*: exit $?, the login is $(eventually has_ended "$(cat "$work/pid")" && echo gone || echo left over)"
  # Of a login that takes long: on a busy machine the signal may come later than that.
  grep -v 'still runs: all requests wait' "$work/said"
}
ends_by TERM
ends_by INT --dry-run=server
ends_by TERM --prune --applyset=set
# Both are there when it wakes: it has no turn in between to end by the first.
ends_by "STOP INT TERM CONT"
# While kinds are looked for nobody hears signals, and nothing has been written: it simply ends.
rm -rf "$HOME/.kube/cache"
ends_by TERM
ends_by HUP
"$kubewatch" wait-condition cm --all --for=create --kubeconfig "$work/kc" >/dev/null
echo "the server is untouched: exit $?"
