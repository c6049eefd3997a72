# finalizers: a controller that holds more than one answer has room for says so, which is told, and with --release it
# is not done. In its place answers who holds two: to make it hold 2001 takes too long here.
perl -MIO::Socket::UNIX -e '
  my $listen = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 5) or die "listen: $!";
  open(my $ready, ">", "$ARGV[0].ready") or die;
  while (my $client = $listen->accept) {
    my $released = <$client> =~ /"release": ?true/ ? q(,"released":true) : "";
    my @objects = map {
      qq({"controller":"guard","object":"ConfigMap shop/$_","finalizer":"kubewatch.dev/guard",)
        . qq("since":"2030-01-01T00:00:00Z","text":"parked"$released})
    } "a", "b";
    my $objects = join(",", @objects);
    print $client qq({"version":1,"result":{"objects":[$objects],"more":true}}\n{"version":1,"end":true}\n);
    close $client;
  }' "$work/c.sock" &
server=$!
trap 'kill $server' EXIT
eventually [ -e "$work/c.sock.ready" ]
try() {
  echo "# $*" >&2
  "$kubewatch" run-controller "$@" --socket "$work/c.sock"
  echo "# exit $?" >&2
}
try finalizers
try finalizers --release
