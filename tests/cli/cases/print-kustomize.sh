# -k runs kustomize, else kubectl, else says what is missing; what they say of errors is shown.
. printed/serve.sh
mkdir "$work/bin"
PATH="$work/bin"
code -k printed
PATH="$work/bin:/usr/bin:/bin"
printf '#!/bin/sh\n[ "$1 $2 $3" = "kustomize -- printed" ] && cat printed/teams.yaml\n' >"$work/bin/kubectl"
chmod +x "$work/bin/kubectl"
code -k printed -o name
printf '#!/bin/sh\n[ "$1" = build ] && echo "no such folder: $3" >&2; exit 3\n' >"$work/bin/kustomize"
chmod +x "$work/bin/kustomize"
code -k elsewhere -o name
code -k printed cm
kill $server
wait $server
