# Nothing of a foreign file, or of a server, is interpreted by a terminal in JSON either, and it stays the same JSON.
crd() {
  cat <<END
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
              properties: {a: {type: string, description: "$1"}, "b\u202E\u009B": {$2}}
END
}
crd one 'type: string, default: "x\u202E\u009B"' >"$work/old.yaml"
crd 'two\u202E\u009B31m' 'type: string, default: "y\u202E\u009B"' >"$work/new.yaml"
crd '' 'description: "\u202E"' >"$work/wrong.yaml"
printf 'apiVersion: demo.example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {"a\\u202E\\u009B": 1}\n' >"$work/a.yaml"
printf 'apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec: {"a\\u202E\\u009B": 1}\n' >"$work/rule.yaml"
try() {
  "$kubewatch" "$@" -o json >"$work/json"
  echo "$1 $2: exit $?, $(grep -c "$(printf '\342\200\256\|\302\233')" "$work/json") raw, \
$([ "$(grep -c 'u202e' "$work/json")" -gt 0 ] && echo escaped)"
}
try crd-gen diff "$work/old.yaml" "$work/new.yaml"
try crd-gen lint "$work/wrong.yaml"
try crd-gen validate "$work/new.yaml" "$work/a.yaml"
try crd-gen sample "$work/new.yaml"
try run-controller check -f "$work/rule.yaml"
