#!/bin/sh
# Prints cases x servers of the last test run. Fails when KUBEWATCH_E2E_REQUIRE=kube-apiserver asked for
# the real half and it ran fewer cases than the sandbox half. Then what is given besides: a check of the whole
# run, with its words.
set -eu
results=$1
shift
count() { [ -f "$results/$1" ] && grep -c '^pass ' "$results/$1" || true; }
sandbox=$(count sandbox)
real=$(count kube-apiserver)
if [ -n "$real" ]; then
  echo "e2e: ${sandbox:-0} cases on the sandbox, $real on a real kube-apiserver, 2 servers, all from the same source"
else
  echo "e2e: ${sandbox:-0} cases on the sandbox; the real kube-apiserver half did not run (KUBEWATCH_E2E_REQUIRE=kube-apiserver runs it)"
fi
if [ "${KUBEWATCH_E2E_REQUIRE:-}" = kube-apiserver ] && [ "${real:-0}" -lt "${sandbox:-0}" ]; then
  echo "e2e: fewer cases passed on the real kube-apiserver than on the sandbox" >&2
  exit 1
fi
[ "${sandbox:-0}" -gt 0 ]
[ $# -eq 0 ] || "$@"
