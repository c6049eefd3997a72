echo 'my: production' > "$work/config"
timeout 60 "$kubewatch" sandbox --kubeconfig "$work/config"
echo "exit $?"
cat "$work/config"
