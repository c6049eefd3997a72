# A terminal that is closed ends what runs in it as SIGTERM does: files are written and taken away, the code is 0. The
# shell and the kernel both tell of it, and a service manager tells of it along with SIGTERM: that is one end, not an
# impatient second one. Under nohup it is not heard.
serve() {
  rm -f "$work/kc"
  "$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
  server=$!
  eventually [ -s "$work/kc" ]
}
serve
export KUBECONFIG="$work/kc"
"$kubewatch" reflect cm --serve 127.0.0.1:0 --kubeconfig-out "$work/reader" --snapshot "$work/snapshot" >/dev/null 2>&1 &
reflect=$!
eventually [ -s "$work/reader" ]
# It has read all that there is: before that nothing is saved.
"$kubewatch" wait-condition cm --all --for=create --kubeconfig "$work/reader" >/dev/null
kill -HUP $reflect
kill -HUP $reflect
wait $reflect
echo "reflect: exit $?, reader $(ls "$work" | grep -c reader), snapshot $(ls "$work" | grep -c '^snapshot$')"
"$kubewatch" watch cm -o name >"$work/names" 2>/dev/null &
watch=$!
eventually [ -s "$work/names" ]
kill -HUP $watch
wait $watch
echo "watch: exit $?"
nohup "$kubewatch" watch cm -o name >"$work/more" 2>/dev/null &
watch=$!
eventually [ -s "$work/more" ]
kill -HUP $watch
sleep 0.5
kill -0 $watch && echo "nohup: goes on"
kill -TERM $watch
wait $watch
kill -HUP $server
wait $server
echo "sandbox: exit $?"
# The later ones come at all moments of its end.
for pause in 0 0.0005 0.001 0.002 0.003 0.005; do
  for first in HUP TERM; do
    serve
    kill -$first $server
    for _ in 1 2 3 4 5 6 7 8; do
      sleep $pause
      kill -HUP $server 2>/dev/null
    done
    wait $server
    code=$?
    [ $code = 0 ] || echo "sandbox: $first, HUP each $pause s: exit $code"
  done
done
serve
# A hook that runs comes to its end.
mkdir "$work/hooks"
cat >"$work/hooks/slow.sh" <<'H'
#!/bin/sh
[ "${1:-}" = --config ] && { echo '{"configVersion":"v1","onStartup":1}'; exit 0; }
echo x >"$MARKS/started"
sleep 1
echo x >"$MARKS/done"
H
chmod +x "$work/hooks/slow.sh"
cat >"$work/rules.yaml" <<R
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: slow}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile:
    env: {MARKS: "$work"}
    output: log
    shell: |
      echo x >"\$MARKS/started"
      sleep 1
      echo x >"\$MARKS/done"
R
export MARKS="$work"
ends_by() {
  what=$1
  signals=$2
  shift 2
  rm -f "$work/started" "$work/done"
  "$kubewatch" run-controller "$@" 2>"$work/log" &
  controller=$!
  eventually [ -s "$work/started" ]
  for signal in $signals; do kill -$signal $controller; done
  wait $controller
  echo "$what, $signals: exit $?, hook done: $([ -s "$work/done" ] && echo yes || echo no)"
  grep -E ' ERROR | error:' "$work/log"
}
ends_by compat "HUP HUP" --compat shell-operator "$work/hooks"
ends_by compat "TERM HUP" --compat shell-operator "$work/hooks"
ends_by rules "TERM HUP" -f "$work/rules.yaml"
ends_by rules "HUP HUP TERM" -f "$work/rules.yaml"
kill -TERM $server
wait $server
exit 0
