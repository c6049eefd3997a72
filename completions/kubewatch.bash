# bash completion of kubewatch; made by: kubewatch completion bash
_kubewatch() {
  local words typed=${COMP_LINE:0:COMP_POINT} word
  read -ra words <<<"$typed"
  [[ $typed == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]}-1]}
  local answer line directive
  answer=$("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null) || return
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
complete -F _kubewatch kubewatch
