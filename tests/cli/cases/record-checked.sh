# What cannot be recorded is refused before anything starts; another file is not overwritten.
f=../../examples/website/rules.yaml
echo "dear diary" >"$work/notes"
"$kubewatch" run-controller -f $f --sandbox --once --record "$work/notes"
echo "exit $?: $(cat "$work/notes")" >&2
"$kubewatch" run-controller -f $f --sandbox --once --dry-run --record "$work/r"
"$kubewatch" run-controller -f $f --sandbox --once --record-limit 5
"$kubewatch" run-controller -f $f --sandbox --once --record "$work/r" --record-limit 0
"$kubewatch" run-controller replay
"$kubewatch" run-controller replay "$work/none" -f $f
