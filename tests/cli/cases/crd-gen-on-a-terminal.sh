# What crd-gen writes of a foreign CRD is exact in a pipe, and on a terminal nothing that it would interpret.
crd() {
  cat <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions:
    - name: $1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                a: {type: string, description: "x\u202Ez", default: "y\u202Ez"}
END
}
crd v1 >"$work/v1.yaml"
crd v2 >"$work/v2.yaml"
has() {
  grep -q "$1" "$2" && echo yes || echo no
}
try() {
  "$kubewatch" crd-gen "$@" >"$work/piped" 2>"$work/notes"
  script -qec "'$kubewatch' crd-gen $*" /dev/null </dev/null >"$work/shown"
  what=$1
  shift
  raw=$(printf '\342\200\256\|\302\233')
  echo "$what ${3:-}: raw in a pipe $(has "$raw" "$work/piped"), on a terminal $(has "$raw" "$work/shown"), \
escaped there $(has '\\u202e' "$work/shown")"
}
try import -f "$work/v1.yaml"
try import -f "$work/v1.yaml" --lang=jsonschema
try import -f "$work/v1.yaml" --lang=markdown
try merge "$work/v1.yaml" "$work/v2.yaml" --storage=v2
try sample "$work/v1.yaml" --size=full
