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
# A List is its objects, and of a kind that the CRD has no version is passed over.
mkdir "$work/all"
cat >"$work/all/list.yaml" <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: beside}}
- {apiVersion: demo.example.com/v1, kind: Mailbox, metadata: {name: good}, spec: {address: a@example.com}}
- {apiVersion: demo.example.com/v1, kind: Mailbox, metadata: {name: bad}, spec: {address: nobody}}
END
cat >"$work/all/more.yaml" <<'END'
apiVersion: demo.example.com/v1
kind: MailboxList
items:
- {metadata: {name: untyped}, spec: {address: b@example.com}}
---
apiVersion: demo.example.com/v1alpha1
kind: Mailbox
metadata: {name: outdated}
spec: {address: c@example.com}
---
apiVersion: other.example.com/v1
kind: Mailbox
metadata: {name: of-another-group}
END
"$kubewatch" crd-gen validate ../../examples/types/types.yaml "$work/all"
echo "exit $?"
sed 1,4d "$work/all/list.yaml" | sed 2d | sed '1i apiVersion: v1\nkind: List\nitems:' |
  "$kubewatch" crd-gen validate ../../examples/types/types.yaml - -o json
echo "exit $?"
"$kubewatch" crd-gen validate ../../examples/types/types.yaml "$work/all/list.yaml"
