"$kubewatch" crd-gen validate ../../examples/types/crds ../../examples/types/mailbox.yaml
echo "exit $?"
cat >"$work/bad.yaml" <<'END'
apiVersion: demo.example.com/v1
kind: Mailbox
metadata: {name: Bad}
spec: {address: nobody, colour: red, target: {forward: a@b, store: {claimName: c}}}
END
"$kubewatch" crd-gen validate ../../examples/types/types.yaml "$work/bad.yaml" --strict
