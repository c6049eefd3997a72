// The completion scripts of the shells. They hand all words to `kubewatch __complete` and show what
// it answers, so that they never go stale and names are those of the cluster.
#include "cli/help/docs.hpp"

namespace kubewatch::cli {

namespace {

// In all three the command stands as it was typed. Tilde, one variable and quotes are what it is
// made of in practice; more of it is not evaluated: nothing runs before Enter is pressed.
//
// Bash looks for a completion by what is typed behind the last "/", quotes included.
// COMP_WORDS is cut at ':' and '=', which --for=... and context names hold: the line is cut at
// blanks instead, and what bash takes for done is left out of the answers.
constexpr const char kBash[] =
    R"sh(# bash completion of kubewatch; made by: kubewatch completion bash
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
)sh";

constexpr const char kZsh[] = R"sh(#compdef kubewatch
# zsh completion of kubewatch; made by: kubewatch completion zsh
_kubewatch() {
  local answer line directive word program=${(Q)words[1]} name MATCH MBEGIN MEND
  local -a match mbegin mend
  case $program in '~' | '~/'*) program=$HOME${program#'~'} ;; esac
  if [[ $program =~ '^\$(\{([A-Za-z_][A-Za-z_0-9]*)\}|([A-Za-z_][A-Za-z_0-9]*))(/.*)?$' ]]; then
    name=$match[2]$match[3]
    program=${(P)name}$match[4]
  fi
  local -a plain described nospace
  answer=$("$program" __complete "${(@)words[2,CURRENT]}" 2>/dev/null) || return 1
  directive=${answer##*:}
  answer=${answer%:*}
  (( directive & 2 )) && nospace=(-S '')
  for line in ${(f)answer}; do
    word=${line%%$'\t'*}
    [[ -z $word ]] && continue
    plain+=("$word")
    if [[ $line == *$'\t'* ]]; then
      described+=("$word  -- ${line#*$'\t'}")
    else
      described+=("$word")
    fi
  done
  if (( ${#plain} )); then
    compadd "${nospace[@]}" -l -d described -a plain
  elif (( (directive & 4) == 0 )); then
    _files
  fi
}
if [[ ${funcstack[1]} == _kubewatch ]]; then
  _kubewatch "$@"
else
  compdef _kubewatch kubewatch
fi
)sh";

constexpr const char kFish[] =
    R"sh(# fish completion of kubewatch; made by: kubewatch completion fish
function __kubewatch_program
    if string match -qr '^~(/|$)' -- $argv[1]
        echo -- $HOME(string sub -s 2 -- $argv[1])
    else if set -l parts (string match -r '^\$([A-Za-z_]\w*)(/.*)?$' -- $argv[1])
        set -l name $parts[2]
        echo -- $$name$parts[3]
    else
        echo -- $argv[1]
    end
end
function __kubewatch_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (__kubewatch_program $words[1])
    command -q -- $program
    or return
    set -l answer ($program __complete $words[2..-1] 2>/dev/null)
    or return
    set -l directive (string replace ':' '' -- $answer[-1])
    set -e answer[-1]
    if test (count $answer) -eq 0; and test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path (commandline -ct)
        return
    end
    for line in $answer
        echo $line
    end
end
complete -c kubewatch -f -a '(__kubewatch_complete)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  return shell == "zsh" ? kZsh : kFish;
}

}  // namespace kubewatch::cli
