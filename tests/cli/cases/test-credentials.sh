# A hook in a test finds no API server by its credentials, which is said; and no name is looked up for it.
cat >"$work/rules.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: reader}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: case=log}
  reconcile:
    credentials: kubeconfig
    shell: grep -o 'http:[^",]*' "$KUBECONFIG" >&2
R
cat >"$work/tests.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: reads}
controller: rules.yaml
given: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {case: log}}}]
expect: {log: ["http://127.0.0.1:0"], runs: [{outcome: done}]}
R
"$kubewatch" run-controller test "$work" | sed 's/([0-9.]*s, /(Ns, /'
