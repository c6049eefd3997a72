# Ids differ each time; values of Secrets are hidden by hashes.
"$kubewatch" run-controller -f ../../examples/secret-copier --sandbox \
  --sandbox-file ../../examples/secret-copier --dry-run --once 2>"$work/log" >"$work/printed"
code=$?
sed -e 's/invocation: .*"kind":"Invocation".*/invocation/' -e 's/\(owner-uid: \).*/\1UID/' \
  -e 's/\(token: \).*/\1HIDDEN/' "$work/printed"
grep -E 'error|warn' "$work/log"
echo "in clear: $(grep -c -e bm90LWEtcmVhbC1vbmU -e not-a-real-one "$work/printed")"
exit $code
