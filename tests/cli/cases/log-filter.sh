# Nothing but the controller's own lines, and those of another controller not at all.
run() {
  "$kubewatch" run-controller -f rules/log.yaml --sandbox --sandbox-file rules/configmap.yaml --once \
    --log-filter "$1" 2>&1 | sed -e 's/^[^ ]* //' -e 's/run=[^ ]*/run=ID/'
}
echo "controller only:"
name=$(sed -n 's/.*metadata: {name: \([a-z-]*\)}.*/\1/p' rules/log.yaml)
run "off,controller/$name=info"
echo "others only:"
run "off,controller/other=trace"
