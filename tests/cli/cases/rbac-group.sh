# A rule for every kind of a group: without a server and files it says what it lacks; with files it
# names each kind. Subresources are known from what a hook printed.
"$kubewatch" run-controller rbac -f rules/group.yaml
echo "exit $?"
cat > "$work/printed.yaml" <<END
apiVersion: kubewatch.dev/v1
kind: Result
patches: [{apiVersion: apps/v1, kind: Deployment, name: a, subresource: scale, patch: {spec: {replicas: 2}}}]
END
"$kubewatch" run-controller rbac -f rules/group.yaml --crd ../../examples/website --crd ../../examples/team \
  --outputs "$work/printed.yaml"
echo "exit $?"
sed -i 's/Deployment/StatefulSet/' "$work/printed.yaml"
"$kubewatch" run-controller rbac -f rules/group.yaml --crd ../../examples/website --outputs "$work/printed.yaml"
