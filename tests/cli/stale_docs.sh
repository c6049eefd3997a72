#!/bin/sh
# Fails when man/ or completions/ differ from what the binary would write. $1: binary, $2: root of the tree.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/man" "$work/completions"
"$1" completion --write-docs "$work"
diff -ru "$2/man" "$work/man" && diff -ru "$2/completions" "$work/completions" || {
  echo "man pages or completions are stale: run packaging/regenerate-docs" >&2
  exit 1
}
