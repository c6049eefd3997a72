sed 's/maxItems: 50/maxItems: 20/' ../../examples/types/crds/demo.example.com_mailboxes.yaml >"$work/new.yaml"
"$kubewatch" crd-gen diff ../../examples/types/crds "$work/new.yaml"
echo "exit $?"
"$kubewatch" crd-gen diff "$work/new.yaml" ../../examples/types/crds -o markdown
echo "exit $?"
cd "$work" && git init -q . && git add new.yaml && git -c user.name=a -c user.email=a@b.example commit -qm one
sed -i 's/maxItems: 20/maxItems: 10/' new.yaml
"$kubewatch" crd-gen diff git:HEAD:new.yaml new.yaml
echo "exit $?"
"$kubewatch" crd-gen diff git:NONE:new.yaml new.yaml 2>&1 | cut -c1-40
