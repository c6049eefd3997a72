# A recording is replayed with the rules that made it, with a changed hook, and after its end was lost. Secrets of
# the recorded server are compared as hashes.
cp -r ../../examples/website ../../examples/secret-copier "$work"
for example in website secret-copier; do
  "$kubewatch" run-controller -f "$work/$example" --sandbox --sandbox-file "$work/$example" --once \
    --record "$work/$example.rec" >/dev/null 2>"$work/log" || cat "$work/log" >&2
  "$kubewatch" run-controller replay "$work/$example.rec" -f "$work/$example" >"$work/said"
  echo "$example: exit $?"
  sed 's/[0-9]* events*.*write.*, /... /' "$work/said"
done
stat -c %a "$work/website.rec"

# What no watch tells of: a namespace that held nothing watched, objects that are patched, deleted, and found made.
mkdir "$work/strangers"
cat >"$work/strangers/rules.yaml" <<'END'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: strangers}
spec:
  for: {apiVersion: v1, kind: ServiceAccount, namespaces: [shop]}
  writes:
  - {apiVersion: v1, kind: ConfigMap, namespaces: [elsewhere, shop]}
  - {apiVersion: v1, kind: Secret}
  reconcile:
    shell: |
      cat <<DOCUMENTS
      {apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: elsewhere}, data: {a: b}}
      ---
      apiVersion: kubewatch.dev/v1
      kind: Result
      create: [{apiVersion: v1, kind: ConfigMap, metadata: {name: found}, data: {a: other}}]
      patches:
      - {apiVersion: v1, kind: Secret, name: key, type: json, patch: [{op: replace, path: /data/old, value: bmV3}]}
      delete: [{apiVersion: v1, kind: ConfigMap, name: gone}]
      DOCUMENTS
END
cat >"$work/strangers.yaml" <<'END'
{apiVersion: v1, kind: Namespace, metadata: {name: elsewhere}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: found, namespace: shop}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: shop}}
---
{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: shop}, stringData: {old: hunter2-hunter2}}
END
"$kubewatch" run-controller -f "$work/strangers/rules.yaml" --sandbox --sandbox-file "$work/strangers.yaml" --once \
  --record "$work/strangers.rec" >/dev/null 2>"$work/log" || cat "$work/log" >&2
"$kubewatch" run-controller replay "$work/strangers.rec" -f "$work/strangers/rules.yaml" >"$work/said"
echo "strangers: exit $?"
sed 's/[0-9]* events*.*write.*, /... /' "$work/said"

sed -i 's/replicas: .*/replicas: 7/' "$work/website/reconcile.sh"
"$kubewatch" run-controller replay "$work/website.rec" -f "$work/website" >"$work/said"
echo "changed: exit $?"
grep -E '^(changed|missing|created|[-+]  *replicas)' "$work/said"

head -c -10 "$work/website.rec" >"$work/cut.rec"
"$kubewatch" run-controller replay "$work/cut.rec" -f "$work/website" 2>&1 >/dev/null |
  sed 's/byte [0-9]*/byte N/; s/: [0-9]* events/: N events/'
"$kubewatch" run-controller replay "$work/website/rules.yaml" -f "$work/website"
