"$kubewatch" crd-gen sample ../../examples/types/types.yaml
echo "exit $?"
"$kubewatch" crd-gen sample ../../examples/types/types.yaml --size minimal -o jsonpath='{.kind}/{.metadata.name}{"\n"}'
"$kubewatch" crd-gen sample ../../examples/types/types.yaml -o name
"$kubewatch" crd-gen sample ../../examples/types/types.yaml -o wrong
echo "exit $?"
# What is judged is what is printed: of a whole number the server takes multiples of 2.5 for those of 2.
cat >"$work/types.yaml" <<'END'
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  group: demo.example.com
  kind: Thing
  version: v1
  spec:
    required: true
    fields:
      large: number | required minimum=1e20
      part: number | required multipleOf=0.25
      whole: number | required multipleOf=2.5 minimum=5 maximum=5
END
"$kubewatch" crd-gen sample "$work/types.yaml" --size minimal >"$work/thing.yaml"
echo "exit $?"
sed -n '/^spec:/,$p' "$work/thing.yaml"
"$kubewatch" crd-gen validate "$work/types.yaml" "$work/thing.yaml"
echo "exit $?"
