# __complete: commands, flags, values, and live names; nothing on stderr, whatever is wrong.
. printed/serve.sh
export KUBEWATCH_COMPLETION_TIMEOUT=20s  # for slow machines
complete() {
  echo "\$ $*"
  "$kubewatch" __complete "$@" 2>&1
  echo "exit $?"
}
complete wa
complete run-controller che
complete --colo
complete --color ''
complete --color=a
complete completion ''
complete watch te
complete watch pods,te
complete watch tm ''
complete watch tm/r
complete watch cm -n shop settings
complete watch cm -n sh
complete watch cm -n default,sh
echo '$ -n of a server that flags alone name'
value() { sed -n "s/.*$1: *\"\\{0,1\\}\\([^\" ,}]*\\).*/\\1/p" "$work/kc" | head -n 1; }
KUBECONFIG="$work/none" "$kubewatch" __complete -s "$(value server)" --token "$(value token)" \
  --insecure-skip-tls-verify watch -n '' 2>&1
complete wait-condition team/b
complete wait-condition team/b --for ''
complete wait-condition team/b --for=co
complete watch --context ''
complete sandbox --kubeconfig ''
complete crd-gen lin
complete crd-gen web
complete crd-gen diff old.yaml ''
complete watch nonsense ''
complete watch cm --nonsense ''
complete nonsense ''
complete
unset KUBEWATCH_COMPLETION_TIMEOUT
kill -STOP $server
rm -rf "$work/.kube"
begin=$(date +%s%N)
complete watch pods ''
took=$((($(date +%s%N) - begin) / 1000000))
[ $took -lt 15000 ] && echo "ended in time"
kill -CONT $server
kill $server
wait $server
complete watch pods ''
echo 'not: [yaml' >"$work/kc"
complete watch po
complete watch --context ''
