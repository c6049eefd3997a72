# On one CPU four hooks run at the same time over all rules when nobody says another number. Each hook waits until it
# may end, so what runs at once is counted, not timed.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
for n in 1 2 3 4 5 6 7 8; do
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%s, namespace: default, labels: {case: many}}}\n' $n
done >"$work/objects.yaml"
for rule in a b; do
  cat <<R
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: $rule}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=many}
  concurrency: 8
  reconcile:
    timeout: 50s
    shell: |
      : >"$work/running/$rule-\$KW_NAME"
      while [ ! -e "$work/go" ]; do sleep 0.05; done
R
done >"$work/rules.yaml"
are_running() { [ "$(ls "$work/running" | wc -l)" -ge "$1" ]; }
at_once() {
  expected=$1
  shift
  rm -rf "$work/running" "$work/go"
  mkdir "$work/running"
  taskset -c "$cpu" "$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --sandbox-file "$work/objects.yaml" \
    --once "$@" 2>"$work/log" &
  eventually are_running "$expected"
  sleep 1
  echo "at once: $(ls "$work/running" | wc -l)"
  touch "$work/go"
  wait $! || cat "$work/log"
  echo "in all: $(ls "$work/running" | wc -l)"
}
at_once 4
at_once 16 --concurrency 0
for wrong in -1 1.5 99999999999; do
  "$kubewatch" run-controller -f "$work/rules.yaml" --sandbox --once --concurrency "$wrong"
  echo "exit $?"
done
