# --record and --from-recording: what does not go together is refused with 2, before anything is
# asked of a server; another file is not written over.
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n' >"$work/a.yaml"
echo "dear diary" >"$work/notes"
try() {
  echo "# $*" >&2
  "$kubewatch" "$@" --server http://127.0.0.1:1 >/dev/null </dev/null
  echo "# exit $?" >&2
}
for verb in "watch cm" "reflect cm --once" "wait-condition cm/a --for=create" "apply-ssa -f $work/a.yaml"; do
  try $verb --record "$work/notes"
  try $verb --from-recording "$work/notes"
  try $verb --record "$work/r" --from-recording "$work/notes"
done
for job in --estimate --verify; do
  try reflect cm $job --record "$work/r"
  try reflect cm $job --from-recording "$work/r"
done
try reflect cm --from "$work/notes" --once --record "$work/r"
try reflect cm --serve 127.0.0.1:0 --forward-reads --from-recording "$work/r"
try wait-condition cm/a --for=create --hold 1s --timeout 2s --from-recording "$work/r"
try apply-ssa -f "$work/a.yaml" --dry-run=server --record "$work/r"
try apply-ssa -f "$work/a.yaml" --diff --record "$work/r"
cat "$work/notes"
ls "$work" | grep '^r$'
"$kubewatch" apply-ssa --help | grep -c -e --from-recording
exit 0
