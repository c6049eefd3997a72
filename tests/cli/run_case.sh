#!/bin/sh
# Runs cases/NAME.sh with $kubewatch set and compares stdout, stderr and exit code with golden/NAME.txt.
# Times, ids, ports, durations and the resourceVersions of sandboxes are masked. A case that ends with 77 is skipped.
# KUBEWATCH_ACCEPT=1 writes the golden file instead.
set -u
binary=$1
name=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export kubewatch="$binary" here work
export HOME="$work" KUBECONFIG="$work/none" NO_COLOR=1 LC_ALL=C
unset KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
cd "$here" || exit 1
timeout 280 sh -c '. ./eventually.sh; . "./cases/$1.sh"' sh "$name" >"$work/out" 2>"$work/err"
code=$?
# Where the machine cannot do what the case is about, which it says.
if [ $code = 77 ]; then
  cat "$work/err"
  exit 77
fi

# That the event loop was held up is true of a loaded machine, and no case is about it.
mask() {
  sed -e '/the event loop was busy for too long/d' -e "s#$work#WORK#g" -e "s#$here#HERE#g" -e "s#$binary#kubewatch#g" \
    -e 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9:.]*Z/TIME/g' \
    -e 's/\(resourceVersion[": ]*\)[0-9]\{12,\}/\1N/g' -e 's/run=[0-9a-z-]*/run=ID/g' -e 's/ms=[0-9]*/ms=N/g' \
    -e 's/127\.0\.0\.1:[0-9]\{4,5\}/127.0.0.1:PORT/g' -e 's/[0-9.]* ms$/N ms/'
}
{
  echo "exit $code"
  echo "--- stdout"
  mask <"$work/out"
  echo "--- stderr"
  mask <"$work/err"
} >"$work/seen"

golden="golden/$name.txt"
if [ "${KUBEWATCH_ACCEPT:-}" = 1 ]; then
  cp "$work/seen" "$golden"
  exit 0
fi
diff -u "$golden" "$work/seen"
