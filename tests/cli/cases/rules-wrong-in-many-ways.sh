# One wrong file each: whatever people get wrong is told with its place, its key, and what is right.
rules="$work/rules"
mkdir "$rules"
head='apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: NAME}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
'
# FILE SPEC-LINES: a rule with these lines; without a hook unless they have one.
rule() {
  name=$(basename "$1" .yaml | tr -c 'a-z0-9\n' '-')
  { printf '%s' "$head" | sed "s/NAME/$name/"; printf '%s\n' "$2"; } > "$rules/$1"
}
ok='  reconcile: {shell: "true"}'
rule 01-key-typo.yaml '  reconcil: {shell: "true"}'
rule 02-wrong-types.yaml "  concurrency: '4'
  onDelete: yes please
  owns: Deployment
$ok"
rule 03-twins.yaml "$ok"
{ cat "$rules/03-twins.yaml"; echo ---; cat "$rules/03-twins.yaml"; } > "$work/twins"
mv "$work/twins" "$rules/03-twins.yaml"
rule 04-cron.yaml "  schedule: '61 * * * *'
$ok"
printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: selector}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap, labelSelector: "tier==in(web"}\n%s\n' "$ok" > "$rules/05-selector.yaml"
rule 06-jq.yaml "  changed: [spec.replicas, '.a | length']
  watches: [{name: w, apiVersion: v1, kind: Secret, map: '{name: .metadata.labels.x'}]
$ok"
rule 07-no-hook.yaml '  resync: 10m'
rule 08-two-hooks.yaml '  reconcile: {shell: "true", exec: [./x.sh]}'
rule 09-missing-program.yaml '  reconcile: {exec: [./reconcile.sh]}'
rule 10-not-in-path.yaml '  reconcile: {exec: [no-such-program-here]}'
rule 11-exec-is-text.yaml '  reconcile: {exec: ./reconcile.sh --all}'
printf '#!/bin/sh\n' > "$rules/plain.sh"
rule 12-not-executable.yaml '  reconcile: {exec: [./plain.sh]}'
rule 13-folder-as-hook.yaml '  reconcile: {exec: [./]}'
rule 14-missing-env-file.yaml '  reconcile: {shell: "true", env: {KEY: {from: {file: key.txt}}}}'
printf '\000\001\002\377binary' > "$rules/15-binary.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\n\tmetadata: {name: tab}\n' > "$rules/16-tab.yaml"
: > "$work/empty.yaml"
printf '\357\273\277' > "$rules/17-bom.yaml"
printf '%s%s\n' "$head" "  reconcil: {}" | sed 's/NAME/bom/' >> "$rules/17-bom.yaml"
printf '%s%s\n' "$head" "  reconcil: {}" | sed -e 's/NAME/crlf/' -e 's/$/\r/' > "$rules/18-crlf.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: Deployment\nmetadata: {name: kind}\n' > "$rules/19-kind.yaml"
printf 'apiVersion: kubewatch.dev/v2\nkind: Controller\nmetadata: {name: version}\n' > "$rules/20-version.yaml"
printf '%s\n' '- a' '- list' > "$rules/21-list.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\nkind: Controller\nmetadata: {name: twice}\n' > "$rules/22-key-twice.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: &a deep}\nspec: *b\n' > "$rules/23-alias.yaml"
rule 24-yaml-booleans.yaml '  reconcile: {shell: "true", env: {Y: 1, DEBUG: no}}'
rule 25-durations.yaml "  debounce: 30
  resync: 10ms
  retry: {initial: 10m, max: 1s, exits: {65: permanent}}
  reconcile: {shell: 'true', timeout: 48h, limits: {memory: 64MB}}"
rule 26-owner.yaml "  apply: {ownerReference: yes, force: [spec]}
  triggers: [{exec: [sh], file: x}, {}]
$ok"
mkdir "$rules/sub" "$work/none"
"$kubewatch" run-controller check -f "$rules"
echo "exit $?"
"$kubewatch" run-controller check -f "$rules/sub" -f "$work/empty.yaml" -f "$rules/nothing.yaml" -f "$work/none"
