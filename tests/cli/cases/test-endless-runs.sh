# A hook that is run again and again ends its case, and everything that was still at work with it.
cat >"$work/rules.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: looper}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  reconcile: {shell: exit 1}
  retry: {initial: 1s, max: 1s}
R
cat >"$work/tests.yaml" <<'R'
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: loops}
controller: rules.yaml
given:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
steps:
  - {when: [{advance: 2h}], expect: {runs: [{name: a}]}}
R
"$kubewatch" run-controller test "$work" 2>&1 | grep -o 'more than 200 runs in one step\|1 case, 1 failed\|ERROR: .*'
