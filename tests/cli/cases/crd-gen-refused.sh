cat >"$work/types.yaml" <<'TYPES'
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  group: demo.example.com
  kind: Thing
  versions:
    - name: v1
      storage: true
      spec: {fields: {a: integer | default=x, b: string | validation="self +"}}
    - name: v2
      served: false
      spec: {fields: {a: string | required}}
TYPES
"$kubewatch" crd-gen "$work/types.yaml"
echo "exit $?"
"$kubewatch" crd-gen sample "$work/types.yaml" --size minimal --for-version v2
echo "exit $?"
# What crd-gen refuses is compared as the new side, merged and described by nobody either.
for verb in "diff $work/types.yaml" docs "merge --storage v1"; do
  "$kubewatch" crd-gen $verb "$work/types.yaml"
  echo "exit $?"
done
# As the old side it is: the change may be its repair.
sed -e 's/default=x/default=1/' -e 's/ | validation="self +"//' "$work/types.yaml" >"$work/repaired.yaml"
"$kubewatch" crd-gen diff "$work/types.yaml" "$work/repaired.yaml"
echo "exit $?"
cat >"$work/list.yaml" <<'LIST'
apiVersion: v1
kind: List
items:
  - {apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: olds.demo.example.com}}
LIST
"$kubewatch" crd-gen lint "$work/list.yaml"
