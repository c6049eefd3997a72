# The script of bash in a real bash: what it leaves for bash to add, ':' and '=' included.
cat >"$work/try" <<'END'
PATH="$(dirname "$kubewatch"):$PATH"
source <(kubewatch completion bash)
compopt() { echo "compopt $*"; }
try() {
  COMPREPLY=()
  COMP_LINE=$1 COMP_POINT=${#1}
  read -ra COMP_WORDS <<<"$1"
  _kubewatch
  echo "$1 -> ${COMPREPLY[*]}"
}
try "kubewatch wat"
try "kubewatch watch --color="
try "kubewatch watch --color=al"
try "kubewatch watch --color "
try "kubewatch sandbox --kubeconfig "
# The command as it is typed; nothing of it is run before Enter is pressed.
HOME=$work/home
mkdir -p "$HOME/bin"
ln -s "$kubewatch" "$HOME/bin/kubewatch"
try '~/bin/kubewatch wat'
try '$HOME/bin/kubewatch wat'
try '"${HOME}"/bin/kubewatch wat'
try '"kubewatch" wat'
try "'kubewatch' wat"
try '$(touch${IFS}$HOME/ran)kubewatch wat'
[ -e "$HOME/ran" ] && echo "it was run"
complete -p | grep -c _kubewatch
END
bash "$work/try"
