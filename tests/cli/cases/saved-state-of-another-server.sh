# What was saved of one cluster says nothing about another: neither its objects nor its positions are used.
for name in a b; do
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-%s, namespace: default}\n' $name >"$work/$name.yaml"
  "$kubewatch" sandbox -f "$work/$name.yaml" --kubeconfig "$work/config-$name" >/dev/null 2>&1 &
  eval "$name=\$!"
done
trap 'kill $a $b $reader 2>/dev/null' EXIT
for name in a b; do eventually [ -s "$work/config-$name" ]; done
on() {
  name=$1
  shift
  KUBECONFIG="$work/config-$name" timeout 60 "$kubewatch" "$@"
}
on a reflect configmaps --once --snapshot "$work/snapshot" >/dev/null
KUBECONFIG="$work/config-b" "$kubewatch" reflect --from "$work/snapshot" --serve 127.0.0.1:0 --kubeconfig-out "$work/config-reader" \
  >/dev/null 2>"$work/status" &
reader=$!
eventually on reader reflect configmaps --query -o name
kill $reader
wait $reader
grep 'was saved from' "$work/status" >&2
# A server that is named where none is needed is compared with that of the file.
from() {
  "$kubewatch" reflect --from "$work/snapshot" --query -o name "$@"
  echo "exit $?"
}
from
from --kubeconfig "$work/config-a"
from --kubeconfig "$work/config-b"
from --kubeconfig "$work/config-a" --context nosuch
from --kubeconfig "$work/nosuch"
follow() {
  echo "# $1" >&2
  # What a busy machine did not even read in its time (3) saves nothing.
  for time in 2s 2s 20s; do
    on "$1" watch configmaps -o name --checkpoint "$work/checkpoint" --duration $time \
      >"$work/printed" 2>"$work/told"
    code=$?
    [ $code = 3 ] || break
  done
  cat "$work/told" >&2
  cat "$work/printed"
  echo "exit $code"
}
for name in b b a a; do follow $name; done
# Made anew at the same URL, as clusters on a laptop are.
address=$(sed -n 's/.*\(127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/config-a" | sed -n 1p)
kill $a
wait $a
"$kubewatch" sandbox --listen "$address" -f "$work/a.yaml" --kubeconfig "$work/config-a" >/dev/null 2>&1 &
a=$!
eventually [ -s "$work/config-a" ]
follow a
from --kubeconfig "$work/config-a"
