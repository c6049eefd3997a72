# What is wrong is refused before anything is asked of a server, each with 2.
try() {
  "$kubewatch" watch "$@" >/dev/null
  echo "exit $?" >&2
}
try pods --when '.a =='
try pods --fields '{.spec.[}'
try pods --until 'condition='
try pods --until '.a |'
try pods -o 'jsonpath={.a[}'
try pods -o tabel
try pods --diff --fields .a
try pods --diff -o name
try pods --max-events 0
try pods --max-events -1
try pods --stats-interval 0s
try pods --exec-timeout 1s
try pods web -l a=b
try pods web --field-selector spec.nodeName=n1
try pod/web extra
try
try pods -f x.yaml
try -f "$work/none.yaml"
try pods -L app -o json
try pods --checkpoint ''
try pods --checkpoint "$work"
try pods --checkpoint "$work/none/point"
try pods --checkpoint -
try pods --record "$work/none/r"
try pods --when ''
try pods --until= --duration 1s
try pods --checkpoint= --duration 1s
try pods -L , -o json --duration 1s
ln -s nowhere "$work/link"
try pods --checkpoint "$work/link"
try pods --record /proc/x
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a%%b}\n' >"$work/percent.yaml"
try -f "$work/percent.yaml" --server http://127.0.0.1:1
try 'pods/a%b'
try pods --context a,b --record "$work/r"
try pods --from-recording "$work/none" --server http://127.0.0.1:1
echo "no checkpoint" >"$work/point"
try pods --checkpoint "$work/point"
echo "no recording" >"$work/recording"
try pods --from-recording "$work/recording"
try pods --from-recording "$work/none"
