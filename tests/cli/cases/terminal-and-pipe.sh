# On a terminal every verb looks as in a pipe, but for what a terminal would interpret, the line of
# reflect that is written over, and wait's table (wait-terminal).
"$kubewatch" sandbox -f rules/configmap.yaml --kubeconfig "$work/kc" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
eventually [ -s "$work/kc" ]
export KUBECONFIG="$work/kc" TERM=xterm
printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evil","namespace":"default","labels":{"a":"b"}},"data":{"k":"\\u001b[31mred\\u0007"}}' >"$work/evil.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {color: green}\n' >"$work/mine.yaml"
ages() { sed -E 's/ +([0-9]+(ms|[smhd]))+( |$)/ AGE\3/g; s/[0-9.]+(ms|s)$/AGE/; s/RSS.*/RSS/; s/ [0-9][0-9,]{2,}/ N/g; s/uid: .*/uid: UID/; /kube-root-ca/d'; }
escape=$(printf '\033')
same() {
  echo "\$ $*"
  timeout 60 "$kubewatch" "$@" </dev/null 2>"$work/pipe.err" | ages >"$work/pipe"
  command="timeout 60 $kubewatch"
  for word in "$@"; do command="$command '$word'"; done
  script -qec "stty cols 100; $command 2>'$work/tty.err'" /dev/null </dev/null | tr -d '\r' | ages >"$work/tty"
  cat "$work/pipe" "$work/pipe.err" | sed "s/$escape/ESCAPE/g" | tr '\007' '!'
  if cmp -s "$work/pipe" "$work/tty"; then
    echo "# the same on a terminal"
  else
    echo "# on a terminal"
    sed "s/$escape/ESCAPE/g" "$work/tty" | tr '\007' '!'
  fi
  # Messages on a terminal of their own.
  script -qec "stty cols 100; $command >/dev/null" /dev/null </dev/null | tr -d '\r' | ages >"$work/tty.err"
  ages <"$work/pipe.err" >"$work/pipe.err.aged"
  cmp -s "$work/pipe.err.aged" "$work/tty.err" || { echo "# messages on a terminal"; sed "s/$escape/ESCAPE/g" "$work/tty.err"; }
}
"$kubewatch" apply-ssa -f "$work/evil.yaml" >/dev/null
same watch cm --max-events 2
same watch cm/evil --max-events 1 -o wide
same watch cm/evil --max-events 1 -o name
same watch cm/evil --max-events 1 -o 'jsonpath={.data.k}'
same watch cm/evil --max-events 1 -o 'jq=.data'
same watch cm/evil --max-events 1 -o 'custom-columns=NAME:.metadata.name,K:.data.k'
same watch cm/evil --max-events 1 --fields .data.k
same watch cm/evil --max-events 1 --diff
# Again with more time where a busy machine was not answered in it.
for time in 3s 20s; do
  same watch nonsense --duration $time >"$work/compared"
  grep -q 'waiting for it' "$work/compared" && ! grep -q 'messages on a terminal' "$work/compared" && break
done
sed 's/20s/3s/' "$work/compared"
same reflect cm --once
same reflect cm --query
same reflect cm evil --query --jq .data
same reflect cm evil --query -o 'jsonpath={.data.k}'
same reflect cm nobody --query
same wait-condition cm/evil --for=create
same wait-condition cm/evil "--for=jsonpath={.data.k}=x" --timeout 0
same apply-ssa -f "$work/evil.yaml"
same apply-ssa -f "$work/mine.yaml" --diff
same apply-ssa -f "$work/mine.yaml" --field-manager x
same apply-ssa -f "$work/evil.yaml" -o jq=.result
