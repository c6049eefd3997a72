# Who starts us without stdin, stdout or stderr gets errors where they are needed, and nothing of what we open in
# their place is written to or waited for.
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
timeout 20 "$kubewatch" watch cm -o name >&-
echo "watch without stdout: exit $?"
timeout 20 "$kubewatch" watch cm -o name 2>&- | head -n 1
timeout 20 "$kubewatch" apply-ssa -f - <&-
echo "apply-ssa without stdin: exit $?"
timeout 20 "$kubewatch" version <&- >&- 2>&-
echo "version without any: exit $?"
kill $server
