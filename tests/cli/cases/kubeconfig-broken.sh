printf 'clusters: [{name: a, cluster: {server: https://x, certificate-authority-data: "%%%%"}}]\nusers: [{name: u, user: {}}]\ncontexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c\n' > "$work/kubeconfig"
"$kubewatch" watch pods --kubeconfig "$work/kubeconfig"
