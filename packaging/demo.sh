#!/bin/sh
# The website example on the embedded API server, by ordinary commands of the given binary and nothing else.
# It ends by itself and leaves nothing behind. Usage: packaging/demo.sh PATH/TO/kubewatch
set -eu
kubewatch=$1
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

work=$(mktemp -d)
sandbox=""
finish() {
  [ -z "$sandbox" ] || kill "$sandbox" 2>/dev/null || true
  [ -z "$sandbox" ] || wait "$sandbox" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say '$ kubewatch sandbox            (an API server in this process, TLS, no cluster)'
"$kubewatch" sandbox --kubeconfig "$work/kubeconfig" >"$work/sandbox.log" 2>&1 &
sandbox=$!
for _ in $(seq 100); do
  [ -s "$work/kubeconfig" ] && break
  kill -0 "$sandbox" 2>/dev/null || { cat "$work/sandbox.log" >&2; exit 1; }
  sleep 0.1
done
head -n 1 "$work/sandbox.log"
export KUBECONFIG="$work/kubeconfig"

say '$ kubewatch apply-ssa -f examples/website/crd.yaml -f examples/website/websites.yaml'
"$kubewatch" apply-ssa -f examples/website/crd.yaml -f examples/website/websites.yaml

say '$ kubewatch run-controller -f examples/website/rules.yaml --once     (each run of the hook is a line)'
"$kubewatch" run-controller -f examples/website/rules.yaml --once 2>&1

say '$ kubewatch reflect configmaps,deployments,services -A --once -o name     (the objects that it made)'
"$kubewatch" reflect configmaps,deployments,services -A -l kubewatch.dev/controller=website --once -o name

say '$ kubewatch wait-condition websites --all -A --for=condition=Ready'
"$kubewatch" wait-condition websites --all -A --for=condition=Ready

say 'Try next:'
cat <<END
  build/release/cli/kubewatch run-controller -f examples/website/rules.yaml --sandbox --sandbox-file examples/website
  build/release/cli/kubewatch sandbox -f examples/website --kubeconfig sandbox.kubeconfig
  KUBECONFIG=sandbox.kubeconfig kubectl get websites -A
END
