# The script of bash in a real bash: what it leaves for bash to add, ':' and '=' included.
cat >"$work/try" <<'END'
PATH="$(dirname "$kubewatch"):$PATH"
source <(kubewatch completion bash)
compopt() { echo "compopt $*"; }
try() {
  COMP_LINE=$1 COMP_POINT=${#1}
  COMP_WORDS=($1)
  _kubewatch
  echo "$1 -> ${COMPREPLY[*]}"
}
try "kubewatch wat"
try "kubewatch watch --color="
try "kubewatch watch --color=al"
try "kubewatch watch --color "
try "kubewatch sandbox --kubeconfig "
END
bash "$work/try"
