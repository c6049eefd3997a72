# Who goes on from what a sandbox said is told what is otherwise in the one that is started after it.
begin() {
  : >"$work/said"
  "$kubewatch" sandbox --insecure-http --listen "127.0.0.1:$1" -f "$work/$2" --kubeconfig "$work/config" >"$work/said" &
  server=$!
  eventually grep -q '^listening' "$work/said"
  port=$(sed -n 's/^listening on .*://p' "$work/said")
}
trap 'kill $server $reader 2>/dev/null' EXIT
for name in o1 o2 o3 n1 n2 n3 n4 n5 n6; do
  printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\n' $name >>"$work/${name%?}.yaml"
done
export KUBECONFIG="$work/config"
follow() {
  # What a busy machine did not even read in its time (3) saves nothing.
  for time in 4s 20s; do
    "$kubewatch" watch configmaps --no-headers -o custom-columns=N:.metadata.name --checkpoint "$work/point" \
      --duration $time >"$work/seen" 2>"$work/told"
    code=$?
    [ $code = 3 ] || break
  done
  grep -o 'too old resource version' "$work/told" >&2
  sort "$work/seen"
  echo "exit $code"
}
begin 0 o.yaml
follow
"$kubewatch" reflect configmaps --serve 127.0.0.1:0 --kubeconfig-out "$work/reader" >/dev/null 2>&1 &
reader=$!
query() { "$kubewatch" reflect configmaps --query -o name --kubeconfig "$work/reader"; }
eventually query
kill $server
wait $server
begin "$port" n.yaml
follow
# The cache of one that went on running.
whole() { [ "$(query | wc -l)" = 6 ]; }
eventually whole
query
