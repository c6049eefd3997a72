cat >"$work/types.yaml" <<'END'
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  group: demo.example.com
  kind: Thing
  version: v1
  spec:
    fields:
      a: strin
      b: integer | maxLength=3
      n: string
END
"$kubewatch" crd-gen "$work/types.yaml"
echo "exit $?"
mkdir "$work/empty"
"$kubewatch" crd-gen "$work/empty"
echo "exit $?"
# What breaks a limit of YAML is an invalid file as any other.
open=$(printf '%0101d' 0 | tr 0 '[')
printf 'a: %s\n' "$open" >"$work/deep.yaml"
ten() { printf '[%s, %s, %s, %s, %s, %s, %s, %s, %s, %s]\n' "$@"; }
{
  echo "a: &a $(ten 1 1 1 1 1 1 1 1 1 1)"
  for pair in 'b a' 'c b' 'd c' 'e d' 'f e'; do
    of="*${pair#* }"
    echo "${pair% *}: &${pair% *} $(ten "$of" "$of" "$of" "$of" "$of" "$of" "$of" "$of" "$of" "$of")"
  done
} >"$work/bomb.yaml"
types=../../examples/types/types.yaml
for file in "$work/deep.yaml" "$work/bomb.yaml"; do
  for verb in "" lint import docs sample "diff $types" "merge --storage v1" "validate $types"; do
    "$kubewatch" crd-gen $verb "$file" 2>&1
    echo "exit $?"
  done
done
"$kubewatch" crd-gen validate "$work/deep.yaml" ../../examples/types/mailbox.yaml
echo "exit $?"
"$kubewatch" crd-gen validate "$types" ../../examples/types/mailbox.yaml --old "$work/deep.yaml"
echo "exit $?"
# Which CRD of a file is wrong is told, too.
cat >"$work/crds.yaml" <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.demo.example.com}
spec: {group: demo.example.com, names: {kind: Thing}, versions: [{name: v1}]}
---
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: olds.demo.example.com}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
END
"$kubewatch" crd-gen lint "$work/crds.yaml"
echo "exit $?"
sed 's/v1beta1/v1/' "$work/crds.yaml" | "$kubewatch" crd-gen docs -
echo "exit $?"
sed 5,8d "$work/crds.yaml" | "$kubewatch" crd-gen docs -
