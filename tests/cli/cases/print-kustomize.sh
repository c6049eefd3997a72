# -k runs kustomize, else kubectl, else says what is missing; what they say of errors is shown.
. printed/serve.sh
mkdir "$work/bin" "$work/none"
printf '#!/bin/sh\n[ "$1 $2 $3" = "kustomize -- printed" ] && /bin/cat printed/teams.yaml\n' >"$work/bin/kubectl"
chmod +x "$work/bin/kubectl"
mkdir "$work/both"
cp "$work/bin/kubectl" "$work/both/kubectl"
printf '#!/bin/sh\n[ "$1" = build ] && echo "no such folder: $3" >&2; exit 3\n' >"$work/both/kustomize"
chmod +x "$work/both/kustomize"
# Only what is named here may be found: the machine may have both.
PATH="$work/none"
code -k printed
PATH="$work/bin"
code -k printed -o name
PATH="$work/both"
code -k elsewhere -o name
code -k printed cm
kill $server
wait $server
