echo 'my: production' > "$work/config"
timeout 5 "$kubewatch" sandbox --kubeconfig "$work/config"
echo "exit $?"
cat "$work/config"
