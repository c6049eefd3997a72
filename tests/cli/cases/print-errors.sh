. printed/serve.sh
code cm -o jsn
code cm -o go-template='{{.a}}'
code cm --template '{{.a}}'
code cm -o jsonpath
code cm -o jsonpath='{.items[*].metadata.name'
code cm -o jsonpath='{range .items[*]}{.a[x]}{end}'
code cm -o jsonpath='{.items[99].kind}'
code cm -o jsonpath='{.none}' --allow-missing-template-keys=false
code cm -o jq='.items[] |'
code cm -o custom-columns='NAME:.metadata.name,AGE'
code cm -o jsonpath-file="$work/absent"
code cm --sort-by '.a['
code cm --sort-by .none
code pdos
code pods,nonsense
code cm a/b
code cm settings -l tier=web
code cm settings -A
code cm/a/b
code cm/settings -f printed/teams.yaml
code cm -l 'tier in (web'
code cm absent
code
code -f "$work/absent.yaml"
code -f https://example.com/a.yaml
code -f printed/teams.yaml -n shop
code -f printed/teams.yaml -k printed
code cm -n default,
printf 'a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n' >"$work/bomb.yaml"
code -f "$work/bomb.yaml"
printf '{kind: Nothing, apiVersion: none.example.com/v1, metadata: {name: "a\\eb"}}' | code -f -
"$kubewatch" apply-ssa -f printed/teams.yaml -n default,shop
echo "exit $?"
kill $server
wait $server
