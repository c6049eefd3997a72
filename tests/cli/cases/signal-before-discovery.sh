# A signal ends a command in order while the server has not even said what it has.
cat >"$work/silent" <<'P'
use IO::Socket::INET;
$| = 1;
my $listener = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1") or die $!;
print $listener->sockport, "\n";
my @kept;
while (my $client = $listener->accept) { push @kept, $client; print "asked\n" }
P
for verb in "watch pods" "watch pod/a --until create" "reflect pods" "reflect pods --snapshot $work/none" "reflect pods --once" "reflect pods --estimate" "reflect pods --serve 127.0.0.1:0" \
  "wait-condition pod/a --for condition=Ready" "wait-condition pod/a --for condition=Ready -o json"; do
  : >"$work/server"
  perl "$work/silent" >>"$work/server" &
  server=$!
  eventually at_least 1 . "$work/server"
  "$kubewatch" $verb --server "http://127.0.0.1:$(head -n 1 "$work/server")" >"$work/printed" 2>"$work/said" &
  command=$!
  eventually at_least 1 asked "$work/server"
  kill -TERM $command
  wait $command
  echo "$verb: exit $?"
  sed 's/Milliseconds": [0-9]*/Milliseconds": N/' "$work/printed"
  cat "$work/said"
  kill $server
  wait $server 2>/dev/null
done
exit 0
