# Refused before a server is asked for; each with its exit code.
try() {
  "$kubewatch" apply-ssa --server http://127.0.0.1:1 "$@"
  echo "exit $?"
}
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n' > "$work/generated.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' > "$work/a.yaml"
{
  echo 'a: &a [x, x, x, x, x, x, x, x, x, x]'
  for pair in "b a" "c b" "d c" "e d" "f e" "g f"; do
    set -- $pair
    echo "$1: &$1 [*$2, *$2, *$2, *$2, *$2, *$2, *$2, *$2, *$2, *$2]"
  done
} > "$work/bomb.yaml"
try
try -f "$work/generated.yaml"
try -f "$work/bomb.yaml"
try -f "$work/absent.yaml"
try -f "$work/a.yaml" -k "$work"
try -f "$work/a.yaml" --dry-run=client
try -f "$work/a.yaml" --prune
try -f "$work/a.yaml" --prune --applyset=x -l a=b
try -f "$work/a.yaml" -l 'a in ('
try -f "$work/a.yaml" -l a=b
try -f ''
try -f "$work/a.yaml" --field-manager= --dry-run=server
try -f "$work/a.yaml" --applyset=x
try -f "$work/a.yaml" --for=ready
try -f "$work/a.yaml" --strict-grace=5s
try -f "$work/a.yaml" --timeout=30s
try -f "$work/a.yaml" --wait --for=nonsense
try -f "$work/a.yaml" --wait --dry-run=server
try -f "$work/a.yaml" --force-conflicts --force-owner=ci
try -f "$work/a.yaml" --force-conflicts=
try -f "$work/a.yaml" --subresource=spec
try -f "$work/a.yaml" -o 'jsonpath={.a'
try -f "$work/a.yaml"
