sed 's/maxItems: 50/maxItems: 20/' ../../examples/types/crds/demo.example.com_mailboxes.yaml >"$work/new.yaml"
"$kubewatch" crd-gen diff ../../examples/types/crds "$work/new.yaml"
echo "exit $?"
"$kubewatch" crd-gen diff "$work/new.yaml" ../../examples/types/crds -o markdown
echo "exit $?"
cd "$work" && git init -q . && git add new.yaml && git -c user.name=a -c user.email=a@b.example commit -qm one
sed -i 's/maxItems: 20/maxItems: 10/' new.yaml
"$kubewatch" crd-gen diff git:HEAD:new.yaml new.yaml
echo "exit $?"
"$kubewatch" crd-gen diff git:NONE:new.yaml new.yaml 2>&1 | cut -c1-40
# Two files of one kind are one CRD, and what each of them says is compared.
types() {
  mkdir -p "$1"
  cat >"$1/a.yaml" <<END
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  {group: demo.example.com, kind: Website, scope: Cluster, version: v1, spec: {fields: {$2}}}
END
  cat >"$1/b.yaml" <<END
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec: {group: demo.example.com, kind: Website, version: v2, storage: true, spec: {fields: {host: string}}}
END
}
types before 'host: string, port: integer'
types after 'host: string'
"$kubewatch" crd-gen diff before after
echo "exit $?"
"$kubewatch" crd-gen lint before --fail-on error && "$kubewatch" crd-gen docs before | grep '^# '
# Of a revision too, from wherever in the repository; what lies below the folder is not of it.
mkdir before/below
cp before/a.yaml before/below/c.yaml
echo 'no document' >before/notes.txt
git add before after && git -c user.name=a -c user.email=a@b.example commit -qm two
"$kubewatch" crd-gen diff git:HEAD:before after
echo "exit $?"
(cd after && "$kubewatch" crd-gen diff git:HEAD:../before/ git:HEAD:)
echo "exit $?"
rm -r before/below before/notes.txt
# Nobody can say with which of two CRDs of one name the other side is to be compared.
mkdir crds
"$kubewatch" crd-gen before/a.yaml before/b.yaml >crds/v1.yaml
"$kubewatch" crd-gen after/a.yaml after/b.yaml >crds/v2.yaml
"$kubewatch" crd-gen diff crds crds/v1.yaml
echo "exit $?"
cat crds/v1.yaml >twice.yaml
{ echo ---; cat crds/v2.yaml; } >>twice.yaml
"$kubewatch" crd-gen diff crds/v1.yaml twice.yaml
echo "exit $?"
