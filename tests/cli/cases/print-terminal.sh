# On a terminal: what it would interpret is shown, whatever the format; colour never changes data.
. printed/serve.sh
tty() {
  echo "\$ $*"
  script -qec "stty cols 60; $tool $*" /dev/null </dev/null | tr -d '\r' | sed -e 's/ [0-9]*s$/ AGE/' | od -c -An -w100 |
    sed 's/   *//g'
}
tty cm settings2 -n shop -o "jsonpath={.data.evil}"
tty tm red -o jq=.spec.motto
tty tm red -o wide
tty tm red -o "jsonpath={.spec.motto}" --color always
kill $server
wait $server
