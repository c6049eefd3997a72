# A recording is replayed with the rules that made it, with a changed hook, and after its end was lost. Secrets of
# the recorded server are compared as hashes.
cp -r ../../examples/website ../../examples/secret-copier "$work"
for example in website secret-copier; do
  "$kubewatch" run-controller -f "$work/$example" --sandbox --sandbox-file "$work/$example" --once \
    --record "$work/$example.rec" >/dev/null 2>"$work/log" || cat "$work/log" >&2
  "$kubewatch" run-controller replay "$work/$example.rec" -f "$work/$example" >"$work/said"
  echo "$example: exit $?"
  sed 's/[0-9]* events*.*write.*, /... /' "$work/said"
done
stat -c %a "$work/website.rec"

sed -i 's/replicas: .*/replicas: 7/' "$work/website/reconcile.sh"
"$kubewatch" run-controller replay "$work/website.rec" -f "$work/website" >"$work/said"
echo "changed: exit $?"
grep -E '^(changed|missing|created|[-+]  *replicas)' "$work/said"

head -c -10 "$work/website.rec" >"$work/cut.rec"
"$kubewatch" run-controller replay "$work/cut.rec" -f "$work/website" 2>&1 >/dev/null |
  sed 's/byte [0-9]*/byte N/; s/: [0-9]* events/: N events/'
"$kubewatch" run-controller replay "$work/website/rules.yaml" -f "$work/website"
