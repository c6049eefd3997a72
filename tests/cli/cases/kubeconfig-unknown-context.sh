printf 'clusters: []\nusers: []\ncontexts: [{name: kind, context: {cluster: a, user: u}}]\n' > "$work/kubeconfig"
"$kubewatch" watch pods --kubeconfig "$work/kubeconfig" --context prod
