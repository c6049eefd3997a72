#!/bin/busybox sh
# The first process of the virtual machine of tests/cgroup/run: lines that begin with @ are for the one who started it.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root TMPDIR=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
ln -s /proc/self/fd /dev/fd
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
top=/sys/fs/cgroup
echo '+memory +pids' >$top/cgroup.subtree_control
echo "@ $(uname -r): $(cat $top/cgroup.subtree_control)"

result() {
  status=$1
  shift
  [ "$status" = 0 ] && echo "@ RESULT ok: $*" || echo "@ RESULT FAILED: $*"
}
# within CGROUP COMMAND...: alone in it, in place of this shell.
within() {
  sh -c 'echo $$ >'"$top/$1"'/cgroup.procs && shift && exec "$@"' sh "$@"
}
# As those of the unit of a user: the folder, and the two files that move processes and switch controllers.
give_to_user() {
  chown 1000:1000 $top/$1 $top/$1/cgroup.procs $top/$1/cgroup.subtree_control
}
# What was there before a controller came: nothing below, nothing distributed, nobody in it.
as_before() {
  [ -z "$(ls -d $top/$1/*/ 2>/dev/null)" ] && [ -z "$(cat $top/$1/cgroup.subtree_control)" ] &&
    [ -z "$(cat $top/$1/cgroup.procs)" ]
}
wait_for() {
  for _ in $(seq 600); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}
has() {
  grep -qF -- "$2" "$1" || { echo "not found: $2"; cat "$1"; return 1; }
}
controller="kubewatch run-controller -f /work/rules.yaml --sandbox --sandbox-file /work/objects.yaml --socket none"

mkdir $top/root-tests
within root-tests test_cgroup 2>&1 | tee /tmp/out
grep -q 'All tests passed' /tmp/out && as_before root-tests
result $? "cases as root: $(tail -n 2 /tmp/out | head -n 1)"

mkdir $top/user-tests && give_to_user user-tests
within user-tests su user -s /bin/sh -c 'exec test_cgroup' 2>&1 | tee /tmp/out
grep -q 'All tests passed' /tmp/out && as_before user-tests
result $? "cases as a user: $(tail -n 2 /tmp/out | head -n 1)"

mkdir $top/refused
within refused su user -s /bin/sh -c 'exec test_cgroup' >/tmp/out 2>&1
[ $? = 77 ] && has /tmp/out 'cgroup: NOT RUN' && has /tmp/out "$top/refused is not delegated"
result $? "a cgroup that is not delegated is not used, and the cases say so"

# run-controller itself.
mkdir $top/command && give_to_user command
within command su user -s /bin/sh -c "exec $controller --until-idle 5s" >/tmp/out 2>&1
has /tmp/out "memory, processes: by the kernel (cgroup v2, $top/command/kubewatch." &&
  has /tmp/out 'ended: used more than limits.memory 32Mi' &&
  has /tmp/out 'ended: used more than limits.processes 6' &&
  has /tmp/out 'good is fine' && as_before command
result $? 'run-controller ends hooks over their limits, by its cgroups, and leaves none'

mkdir $top/shared
sh -c 'echo $$ >'$top'/shared/cgroup.procs; '"$controller"' --until-idle 5s; true' >/tmp/out 2>&1
has /tmp/out "no cgroup: other processes are in $top/shared: sh (" &&
  has /tmp/out 'memory, processes: by looking at its processes in /proc' &&
  has /tmp/out 'ended: used more than limits.memory 32Mi' &&
  has /tmp/out 'ended: used more than limits.processes 6' && as_before shared
result $? 'run-controller beside others leaves their cgroup alone, and watches'

mkdir $top/killed
rm -f /tmp/escaped
touch /tmp/stay
sh -c 'echo $$ >'"$top/killed/cgroup.procs; exec $controller" >/tmp/out 2>&1 &
pid=$!
wait_for test -s /tmp/escaped
kill -9 $pid
wait $pid
wait_for as_before killed && [ ! -d "/proc/$(cat /tmp/escaped)" ]
result $? 'a killed run-controller leaves neither processes nor cgroups'

echo "@ RESULT the guest came to its end"
poweroff -f
