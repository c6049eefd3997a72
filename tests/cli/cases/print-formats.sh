. printed/serve.sh
get tm,cm -n default -o name
get tm red -o jsonpath='{.metadata.name}{"\n"}'
get tm -o jsonpath='{range .items[?(@.spec.members>3)]}{.metadata.name}{"\t"}{.spec}{"\n"}{end}'
get tm -o custom-columns='NAME:.metadata.name,MOTTO:{.spec.motto},N:spec.members'
printf 'NAME MEMBERS\n.metadata.name .spec.members\n' >"$work/columns"
get tm -o custom-columns-file="$work/columns"
printf '{.items[*].metadata.name}' >"$work/template"
get tm -o jsonpath-file="$work/template"
echo
get tm -o 'jq=.items[] | {name: .metadata.name, n: .spec.members}'
get cm settings2 -n shop -o jq='.data.evil'
get tm red -o json | sed -e 1d -e 's/"\(uid\|resourceVersion\)": ".*"/"\1": "X"/'
get tm red -o yaml --show-managed-fields | sed -n '/managedFields/,/operation/p'
get tm --stream -o json | cut -c 1-60
get tm --stream -o yaml | grep -E '^(kind|---)'
get -f printed/teams.yaml -o name
get -f printed -l tier=web -o name
kill $server
wait $server
