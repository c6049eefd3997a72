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
