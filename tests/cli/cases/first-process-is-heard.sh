# As the first process of a PID namespace, which a container's command is: the kernel keeps a signal from it that it has
# no handler for, so each moment needs one. While it reads what does not come, while kustomize runs, and a login.
if unshare -p -f --kill-child true 2>/dev/null; then
  as_first() { exec unshare -p -f --kill-child "$@"; }
elif unshare -r -p -f --kill-child true 2>/dev/null; then
  as_first() { exec unshare -r -p -f --kill-child "$@"; }
else
  echo "skipped: no PID namespace may be made here" >&2
  exit 77
fi
# It is there, and has handlers of its own: SIGTERM's bit.
hears() {
  first=$(cat "/proc/$1/task/$1/children") && first=${first% } && [ -n "$first" ] &&
    caught=$(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$first/status") && [ $((caught & 0x4000)) != 0 ]
}
# $1: the signal, $2: a file that is there once it may come, then the words. What runs behind & hears no SIGINT unless
# that is set back.
ends_by() {
  signal=$1
  file=$2
  shift 2
  rm -f "$work/pid"
  (as_first env --default-signal=INT,TERM,HUP "$kubewatch" "$@" <"$work/pipe") >"$work/said" 2>&1 &
  outer=$!
  eventually hears $outer
  eventually [ -e "$file" ]
  kill -$signal $first
  wait $outer 2>/dev/null
  echo "# $signal $*: exit $?"
  cat "$work/said"
}
mkfifo "$work/pipe"
exec 3<>"$work/pipe"
for signal in TERM INT HUP; do ends_by $signal "$work/pipe" apply-ssa -f -; done
mkdir "$work/bin"
cat >"$work/bin/kustomize" <<P
#!/bin/sh
sleep 1000 &
echo \$! >"$work/pid"
wait
P
cp "$work/bin/kustomize" "$work/login"
chmod +x "$work/bin/kustomize" "$work/login"
PATH="$work/bin:$PATH"
ends_by TERM "$work/pid" apply-ssa -s http://127.0.0.1:1 -k .
cat >"$work/kc" <<K
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: $work/login, interactiveMode: Never}}
K
ends_by TERM "$work/pid" apply-ssa -f rules/configmap.yaml --kubeconfig "$work/kc"
ends_by TERM "$work/pid" run-controller -f rules/good.yaml --kubeconfig "$work/kc"
exit 0
