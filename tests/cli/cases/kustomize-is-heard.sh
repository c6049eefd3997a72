# -k: what kustomize warns of is told although it did its work, and what it started ends with us.
mkdir "$work/bin"
cat >"$work/bin/kustomize" <<END
#!/bin/sh
case \$3 in
  waits)
    sleep 200 &
    echo \$! >"$work/pid.new"
    /bin/mv "$work/pid.new" "$work/pid"
    wait
    ;;
  many) for i in \$(/usr/bin/seq 22); do echo "line \$i" >&2; done ;;
  *) printf '# Warning: commonLabels is deprecated\033[2J\n' >&2 ;;
esac
echo 'no: object'
END
chmod +x "$work/bin/kustomize"
export PATH="$work/bin:$PATH"
build() {
  "$kubewatch" apply-ssa -s http://127.0.0.1:1 -k "$@" 2>"$work/said"
  echo "exit $?"
}
build warns
grep WARN "$work/said" >&2
build many
grep -c 'WARN  -k: line' "$work/said"
grep 'more lines' "$work/said" >&2
"$kubewatch" apply-ssa -s http://127.0.0.1:1 -k waits 2>/dev/null &
apply=$!
eventually [ -s "$work/pid" ]
kill -TERM $apply
wait $apply 2>/dev/null
echo "ended: exit $?"
eventually has_ended "$(cat "$work/pid")"
exit 0
