# shellcheck shell=bash
# What hooks of shell-operator call that begin with `source /shell_lib.sh`, for machines and images where there is no
# shell-operator: copy this file to /shell_lib.sh. Written from what is documented of such hooks and how they are used
# in public; no file of shell-operator is in it. Needs bash 4.4 and jq 1.6.
#
#   hook::run "$@"            the last line of a hook: calls __config__ for --config, else a function for each context
#   context::jq ARG...        jq on the context that is looked at
#   context::global::jq ARG...  jq on the list of all contexts of this run
#   context::get [--required] PATH; context::has PATH; context::is_true PATH; context::is_false PATH
#                             PATH as snapshots.pods.0.filterResult; get prints texts without quotes
#
# Of these functions the first that the hook defines is called, for a context of the type:
#
#   onStartup        __on_startup, __main__
#   Synchronization  __on_kubernetes::BINDING::synchronization, __on_kubernetes::BINDING, __main__
#   Event            __on_kubernetes::BINDING::added|modified|deleted, for the former two
#                    __on_kubernetes::BINDING::added_or_modified, __on_kubernetes::BINDING, __main__
#   Schedule         __on_schedule::BINDING, __main__
#   Group            __on_group::GROUP, __main__
#
# BINDING_CONTEXT_CURRENT_INDEX and BINDING_CONTEXT_CURRENT_BINDING say which context it is.

context::global::jq() {
  jq "$@" "$BINDING_CONTEXT_PATH"
}

context::jq() {
  if [[ -z ${BINDING_CONTEXT_CURRENT_INDEX:-} ]]; then
    context::global::jq '.[0]' | jq "$@"
  else
    jq "$@" <<<"$_context_at_hand"
  fi
}

# $path of the jq program: keys and numbers.
_context_at() {
  local dotted=$1
  shift
  context::jq --arg dotted "$dotted" "${@:1:$#-1}" "
    (\$dotted | split(\".\") | map(select(. != \"\") | if test(\"^[0-9]+\$\") then tonumber else . end)) as \$path
    | ${*: -1}"
}

context::has() {
  _context_at "$1" -e '
    if $path == [] then true else try (getpath($path[:-1]) | has($path[-1])) catch false end' >/dev/null
}

context::get() {
  if [[ $1 == --required ]]; then
    shift
    context::has "$1" || { echo "error: the context has no $1" >&2 && return 1; }
  fi
  _context_at "$1" -r 'try getpath($path) catch null'
}

context::is_true() {
  _context_at "$1" -e '(try getpath($path) catch null) == true' >/dev/null
}

context::is_false() {
  _context_at "$1" -e '(try getpath($path) catch null) == false' >/dev/null
}

# Of each context a line with its binding and what may handle it, and a line with itself.
_context_lines() {
  context::global::jq -r '
    .[] | (.binding // "") as $binding | "__on_kubernetes::\($binding)" as $kubernetes
    | ([$binding] + (
        if .type == "Synchronization" then ["\($kubernetes)::synchronization", $kubernetes]
        elif .type == "Event" and .watchEvent == "Deleted" then ["\($kubernetes)::deleted", $kubernetes]
        elif .type == "Event" then
          ["\($kubernetes)::\(.watchEvent | ascii_downcase)", "\($kubernetes)::added_or_modified", $kubernetes]
        elif .type == "Schedule" then ["__on_schedule::\($binding)"]
        elif .type == "Group" then ["__on_group::\(.groupName)"]
        elif $binding == "onStartup" then ["__on_startup"]
        else [] end) + ["__main__"] | join("\u001f")),
      tojson'
}

hook::run() {
  if [[ ${1:-} == --config ]]; then
    __config__
    exit 0
  fi
  local _context_all _context_list=() _context_words=() _context_at_hand _context_handler _context_status _context_i
  _context_all=$(_context_lines) || exit
  mapfile -t _context_list <<<"$_context_all"
  for ((_context_i = 0; _context_i + 1 < ${#_context_list[@]}; _context_i += 2)); do
    IFS=$'\x1f' read -r -a _context_words <<<"${_context_list[_context_i]}"
    _context_at_hand=${_context_list[_context_i + 1]}
    export BINDING_CONTEXT_CURRENT_INDEX=$((_context_i / 2)) BINDING_CONTEXT_CURRENT_BINDING=${_context_words[0]}
    for _context_handler in "${_context_words[@]:1}" ""; do
      declare -F "$_context_handler" >/dev/null && break
    done
    if [[ -z $_context_handler ]]; then
      echo "error: no function handles a context of ${_context_words[0]}: one of ${_context_words[*]:1}" >&2
      exit 1
    fi
    # Called as it stands, so that `set -e` of the hook holds within it.
    "$_context_handler"
    _context_status=$?
    [[ $_context_status == 0 ]] || exit "$_context_status"
  done
}
