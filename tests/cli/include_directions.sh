#!/bin/sh
# Fails when a room of lib/ includes one that it may not use (lib/README.md has the picture), when anything
# includes cli, or when a third-party library is included outside its home. $1: the root of the tree.
set -u
cd "$1" || exit 1
bad=0

listed=" "
allow() {
  room=$1
  listed="$listed$room "
  shift
  for used in $(grep -rhoE '#include "[a-z]+/' "lib/$room" | sed 's/.*"//; s#/##' | sort -u); do
    [ "$used" = "$room" ] && continue
    case " $* " in
      *" $used "*) ;;
      *) grep -rn "#include \"$used/" "lib/$room" | head -3; echo "lib/$room may not include $used/"; bad=1 ;;
    esac
  done
}
allow base
allow jq base
allow loop base
allow http base loop
allow core base
allow cel base
allow schema base core cel
allow crdgen base core schema
allow client base loop http core
allow runtime base jq loop http core client
allow hooks base jq loop http core client schema runtime
allow compat base jq loop http core client runtime hooks
allow builtin base core cel schema
allow apiserver base loop http core schema builtin
allow rehearsal base loop http core client schema runtime hooks apiserver
for folder in lib/*/; do
  room=$(basename "$folder")
  case "$listed" in
    *" $room "*) ;;
    *) echo "lib/$room is a room that is not listed here"; bad=1 ;;
  esac
  grep -q "\"$room\"" lib/base/log_filter.cpp || { echo "--log-filter does not know lib/$room"; bad=1; }
done

home() {
  pattern=$1
  shift
  found=$(grep -rlE "#include <$pattern" lib cli 2>/dev/null)
  for file in $found; do
    inside=0
    for folder in "$@"; do
      case "$file" in "$folder"/*) inside=1 ;; esac
    done
    [ $inside = 1 ] || { echo "$file includes <$pattern>, whose home is $*"; bad=1; }
  done
}
home 'yaml' lib/base
home 'spdlog/' lib/base
home 'jq\.h|jv\.h' lib/jq
home 'event2/' lib/loop lib/http
home 'sys/(un|inotify)\.h' lib/loop
home 'curl/' lib/http
home 'openssl/' lib/http
home 'zlib\.h|isa-l' lib/http
home 'simdjson' lib/core
home 'zstd|zdict' lib/runtime
home 're2/' lib/base
home 'prometheus/' lib/hooks
home 'CLI/' cli

# The calls of the kernel that loop/ is the home of; jq's helper forks by itself, so that base stays free of a loop.
calls='AF_UNIX|SYS_clone|pidfd_open|memfd_create|inotify_init|/sys/fs/cgroup'
for file in $(grep -rlE "$calls" lib cli --include='*.cpp'); do
  case "$file" in
    lib/loop/*|lib/jq/helper.cpp) ;;
    *) echo "$file uses what loop/ is the home of:"; grep -nE "$calls" "$file" | head -3; bad=1 ;;
  esac
done
[ $bad = 0 ] && echo "include directions and library homes are as lib/README.md says"
exit $bad
