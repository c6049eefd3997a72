# A signal ends a command in order while the server has not even said what it has.
cat >"$work/silent" <<'P'
use IO::Socket::INET;
$| = 1;
my $listener = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1") or die $!;
print $listener->sockport, "\n";
my @kept;
while (my $client = $listener->accept) { push @kept, $client; print "asked\n" }
P
says() {
  for _ in $(seq 600); do
    [ "$(wc -l <"$work/server")" -ge "$1" ] && return
    sleep 0.05
  done
  echo "the server was not asked"
}
for verb in "watch pods" "watch pod/a --until create" "reflect pods" "reflect pods --snapshot $work/none" "reflect pods --once" "reflect pods --estimate" "reflect pods --serve 127.0.0.1:0" \
  "wait-condition pod/a --for condition=Ready" "wait-condition pod/a --for condition=Ready -o json"; do
  : >"$work/server"
  perl "$work/silent" >>"$work/server" &
  server=$!
  says 1
  "$kubewatch" $verb --server "http://127.0.0.1:$(head -n 1 "$work/server")" >"$work/printed" 2>"$work/said" &
  command=$!
  says 2
  kill -TERM $command
  wait $command
  echo "$verb: exit $?"
  sed 's/Milliseconds": [0-9]*/Milliseconds": N/' "$work/printed"
  cat "$work/said"
  kill $server
  wait $server 2>/dev/null
done
exit 0
