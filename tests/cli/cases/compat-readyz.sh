# /readyz says of each hook of --compat what keeps it; what a failed --config printed is for the log.
mkdir "$work/hooks"
hook() {
  cat >"$work/hooks/$1"
  chmod +x "$work/hooks/$1"
}
hook a-wrong.sh <<'HOOK'
#!/bin/sh
echo '{"configVersion":"v1","foo":1}'
HOOK
hook b-fails.sh <<'HOOK'
#!/bin/sh
echo a word >&2
exit 3
HOOK
hook c-waits.sh <<'HOOK'
#!/bin/sh
echo '{"configVersion":"v1","kubernetes":[{"kind":"Nope"}]}'
HOOK
"$kubewatch" run-controller --compat shell-operator "$work/hooks" --sandbox --metrics 127.0.0.1:0 2>"$work/log" &
pid=$!
eventually at_least 2 'hook is not run' "$work/log"
eventually grep -q 'hook waits' "$work/log"
port=$(sed -n 's/.*serving metrics.*port=\([0-9]*\).*/\1/p' "$work/log")
curl -s "http://127.0.0.1:$port/readyz"
kill $pid
wait $pid
