"$kubewatch" crd-gen validate ../../examples/types/crds ../../examples/types/mailbox.yaml
echo "exit $?"
cat >"$work/bad.yaml" <<'END'
apiVersion: demo.example.com/v1
kind: Mailbox
metadata: {name: Bad}
spec: {address: nobody, colour: red, target: {forward: a@b, store: {claimName: c}}}
END
"$kubewatch" crd-gen validate ../../examples/types/types.yaml "$work/bad.yaml" --strict
# What is stored has its namespace, the manifests leave it out: an update all the same.
cat >"$work/two.yaml" <<'END'
apiVersion: demo.example.com/v1
kind: Mailbox
metadata: {name: info}
spec: {address: other@example.com}
---
apiVersion: demo.example.com/v1
kind: Mailbox
metadata: {name: more}
spec: {address: more@example.com}
END
sed 's/name: info/name: info, namespace: default/; s/other@/info@/; s/name: more/name: more, namespace: default/' \
  "$work/two.yaml" >"$work/stored.yaml"
"$kubewatch" crd-gen validate ../../examples/types/types.yaml "$work/two.yaml" --old "$work/stored.yaml"
echo "exit $?"
