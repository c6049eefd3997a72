cat >"$work/crd.yaml" <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                ratio: {type: number}
                hosts: {type: array, items: {type: string}}
                broken: {description: no type}
END
"$kubewatch" crd-gen lint "$work/crd.yaml"
echo "exit $?"
"$kubewatch" crd-gen lint "$work/crd.yaml" -o github --disable float
"$kubewatch" crd-gen lint "$work/crd.yaml" -o sarif | grep -c ruleId
"$kubewatch" crd-gen lint ../../examples/types/crds && echo clean
"$kubewatch" crd-gen lint "$work/crd.yaml" --disable flaot
echo "exit $?"
