# The list of commands names the topics, and help of a command ends with what its exit code means.
"$kubewatch" help | sed -n '/^Topics:/,$p'
for topic in $("$kubewatch" help | sed -n 's/^Topics: \(.*\) (.*/\1/p'); do
  "$kubewatch" help "$topic" | sed -n 1p
done
"$kubewatch" help version | sed -n '/^Global flags/,$p'
"$kubewatch" help run-controller check | grep -c '^Exit status: 0 done or met; '
"$kubewatch" help rules | grep -c '^Exit status:'
ln -s "$kubewatch" "$work/kubectl-kubewatch"
"$work/kubectl-kubewatch" help | grep '^Topics:'
