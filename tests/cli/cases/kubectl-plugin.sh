# As kubectl's plugin the help says how it was called; kubectl_complete-NAME completes its words.
mkdir "$work/bin"
ln -s "$kubewatch" "$work/bin/kubectl-kubewatch"
ln -s "$kubewatch" "$work/bin/kubectl-kube_watch"
ln -s "$kubewatch" "$work/bin/kubectl_complete-kubewatch"
"$work/bin/kubectl-kubewatch" --help | grep -i usage
"$work/bin/kubectl-kubewatch" watch --help | grep -E 'kubewatch (watch|--help)'
"$work/bin/kubectl-kube_watch" watch --help | grep -i usage
"$work/bin/kubectl-kubewatch" watch --nonsense
echo "exit $?"
"$work/bin/kubectl_complete-kubewatch" wa
