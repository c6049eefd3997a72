# What a real kube-apiserver told and got is replayed where there is none: with its rules, and with a hook that was
# changed since. recordings/README.md has how it was made.
cp -r recordings/kube-apiserver-1.36 "$work/site"
"$kubewatch" run-controller replay "$work/site/recording" -f "$work/site/rules.yaml"
echo "the same rules: exit $?"

sed -i 's/title: "/title: "site /' "$work/site/reconcile.sh"
"$kubewatch" run-controller replay "$work/site/recording" -f "$work/site/rules.yaml" >"$work/said"
echo "a changed hook: exit $?"
cat "$work/said"
