# A folder of rules may hold what is no rule, for rbac as for check.
mkdir "$work/rules"
cp -r ../../examples/website/. "$work/rules"
cat >"$work/rules/kustomization.yaml" <<'Y'
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [crd.yaml]
Y
cat >"$work/rules/job.yaml" <<'Y'
apiVersion: batch/v1
kind: Job
metadata: {generateName: once-}
Y
"$kubewatch" run-controller check -f "$work/rules" >/dev/null && echo checked
"$kubewatch" run-controller rbac -f "$work/rules" --name website -o name
