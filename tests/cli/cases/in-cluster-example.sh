# What examples/in-cluster says runs: an API server that checks every field takes its manifests, `rbac`
# prints the account that they name, and its arguments run rules from files that are links, as a ConfigMap
# has them, with nothing to write to but /tmp.
examples="$here/../../examples"
"$kubewatch" sandbox --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc"
printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n' | "$kubewatch" apply-ssa -f -
"$kubewatch" run-controller rbac -f "$examples/website" --name website-controller -n web --leader-elect |
  "$kubewatch" apply-ssa -f - -f "$examples/website/crd.yaml" -o name
"$kubewatch" apply-ssa -n web -f "$examples/in-cluster/deployment.yaml" -o name
account=$(sed -n 's/^ *serviceAccountName: //p' "$examples/in-cluster/deployment.yaml")
"$kubewatch" wait-condition "serviceaccount/$account" -n web --for=create --timeout 60s

# As the kubelet lays out a ConfigMap.
mkdir -p "$work/rules/..2026"
for file in $(grep -o 'examples/website/[a-z.]*' "$examples/in-cluster/README.md" | grep -v crd.yaml | sort -u); do
  cp "$here/../../$file" "$work/rules/..2026/" && chmod 0555 "$work/rules/..2026/${file##*/}"
  ln -s "..data/${file##*/}" "$work/rules/${file##*/}"
done
ln -s ..2026 "$work/rules/..data"
"$kubewatch" apply-ssa -f "$examples/website/websites.yaml" -o name
arguments=$(sed -n 's/^ *- \(--.*\)$/\1/p' "$examples/in-cluster/deployment.yaml" |
  sed "s#/rules/#$work/rules/#; s#=:9090#=127.0.0.1:0#")
mkdir "$work/tmp"
# shellcheck disable=SC2086 # the arguments are words on purpose
(cd / && HOME=/nonexistent TMPDIR="$work/tmp" "$kubewatch" run-controller $arguments --lease-namespace web \
  --socket none --once 2>"$work/log")
echo "exit $?"
"$kubewatch" wait-condition deployment/blog -n default --for=create --timeout 60s
ls -A "$work/tmp"
kill $server
wait $server
