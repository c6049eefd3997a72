mkdir "$work/cases"
cat >"$work/cases/rules.yaml" <<'END'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  owns: [{apiVersion: v1, kind: ConfigMap}]
  reconcile:
    shell: |
      echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: $KW_NAME-copy, namespace: $KW_NAMESPACE}, data: {k: v}}"
END
cat >"$work/cases/tests.yaml" <<'END'
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: good}
controller: rules.yaml
given:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: "yes"}}}
expect:
  objects: [{kind: ConfigMap, name: a-copy, data: {k: v}}]
---
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: bad}
controller: rules.yaml
given:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: "yes"}}}
expect:
  objects: [{kind: ConfigMap, name: a-copy, data: {k: w}}]
END
seconds() { sed -e 's/([0-9.]*s, [0-9]* runs*/(Ns, N runs/' -e 's/"seconds": [0-9.]*/"seconds": N/' -e 's/"runs": [0-9]*/"runs": N/' -e 's/time="[0-9.]*"/time="N"/'; }
"$kubewatch" run-controller test "$work/cases" | seconds
"$kubewatch" run-controller test "$work/cases" --case bad -o junit | seconds
"$kubewatch" run-controller test "$work/cases" --case good --interrupt -o json | seconds
"$kubewatch" run-controller test "$work/cases" >/dev/null
