#!/bin/sh
# promised_words.sh SOURCE: what is refused says why and what to use instead. "not supported yet" may be
# said of Admission and Conversion documents alone: by the one place that refuses them, and by the
# tables that name both. Lines that speak of it are printed when they are others.
# Nor may a comment name a page that does not lie here as the source of what it says.
set -eu
cd "$1"
absent=$(grep -rnIE '(^|[^a-z])(product|design)[.]md|(^|[^a-z/])facts/' lib cli cmake CMakeLists.txt README.md CONTRIBUTING.md || true)
if [ -n "$absent" ]; then
  printf 'these name pages that are not in this repository:\n%s\n' "$absent"
  exit 1
fi
words='not supported yet'
found=$(grep -rniI "$words" lib cli README.md man examples || true)
# The reader of documents, whose first test is for Controller.
allowed='^lib/hooks/rule_document\.cpp:[0-9]*: *node[.]problem[(]fmt::format[(]"[{][}]: not supported yet"|Admission and Conversion'
other=$(printf '%s\n' "$found" | grep -Ev "$allowed" | grep . || true)
if [ -n "$other" ]; then
  printf 'these say "%s" of something else than Admission and Conversion:\n%s\n' "$words" "$other"
  exit 1
fi
# It cannot fail where nothing is looked at.
if ! printf '%s\n' "$found" | grep -q '^lib/hooks/rule_document.cpp:'; then
  echo "rule_document.cpp does not refuse Admission and Conversion in these words any more" >&2
  exit 1
fi
