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
