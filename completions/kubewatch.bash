# bash completion of kubewatch; made by: kubewatch completion bash
_kubewatch_program() {
  local word=$1
  case $word in
    *"'"*)
      printf '%s' "${word//"'"/}"
      return
      ;;
    '~' | '~/'*) word=$HOME${word#'~'} ;;
  esac
  word=${word//'"'/}
  if [[ $word =~ ^\$(\{([A-Za-z_][A-Za-z_0-9]*)\}|([A-Za-z_][A-Za-z_0-9]*))(/.*)?$ ]]; then
    local name=${BASH_REMATCH[2]}${BASH_REMATCH[3]}
    word=${!name-}${BASH_REMATCH[4]}
  fi
  printf '%s' "${word//\\/}"
}
_kubewatch() {
  local words typed=${COMP_LINE:0:COMP_POINT} word
  typed=${typed#*"${COMP_WORDS[0]}"}
  read -ra words <<<"$typed"
  [[ -z $typed || $typed == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]}-1]}
  local answer line directive program
  program=$(_kubewatch_program "${COMP_WORDS[0]}")
  answer=$("$program" __complete "${words[@]}" 2>/dev/null) || return
  directive=${answer##*:}
  answer=${answer%:*}
  local skip=""
  case $word in *[=:]*) skip=${word%"${word##*[=:]}"} ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    [[ -n $line && $line == "$word"* ]] && COMPREPLY+=("${line#"$skip"}")
  done <<<"$answer"
  ((directive & 2)) && compopt -o nospace 2>/dev/null
  if ((${#COMPREPLY[@]} == 0 && (directive & 4) == 0)); then
    compopt -o default 2>/dev/null
  fi
}
complete -F _kubewatch kubewatch '"kubewatch"' "'kubewatch'" 'kubewatch"' "kubewatch'"
