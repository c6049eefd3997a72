mkdir "$work/types"
cp ../../examples/types/types.yaml "$work/types/"
sed -e 's/kind: Mailbox/kind: Letter/' ../../examples/types/types.yaml >"$work/types/letter.yaml"
"$kubewatch" crd-gen "$work/types" -o "$work/crds" 2>/dev/null
touch -d @86400 "$work"/crds/*
echo "edited by hand" >>"$work/crds/demo.example.com_letters.yaml"
"$kubewatch" crd-gen "$work/types" -o "$work/crds" 2>&1 >/dev/null | grep -v '^note:'
# The file that stood as it is has kept its time, the other one is as it was.
find "$work/crds" -newermt @86401 -printf '%f is new\n' -type f | grep yaml
grep -c "edited by hand" "$work/crds/demo.example.com_letters.yaml"
# One that cannot be read is written, and what is in the way is told.
rm "$work/crds/demo.example.com_letters.yaml"
mkdir "$work/crds/demo.example.com_letters.yaml"
"$kubewatch" crd-gen "$work/types" -o "$work/crds" 2>&1 >/dev/null | grep -v '^note:'
