# What a server calls its objects is not offered where it would be a flag, a folder or a path.
perl no_api_server.pl "$work/port" &
trap "kill $!" EXIT
eventually [ -s "$work/port" ]
export KUBEWATCH_COMPLETION_TIMEOUT=20s  # for slow machines
complete() {
  "$kubewatch" __complete -s "http://127.0.0.1:$(cat "$work/port")/odd" "$@"
}
complete watch widgets ''
complete watch widgets/
complete watch --namespace=
exit 0
