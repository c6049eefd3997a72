# What a control socket says stays in its line, where a CI would take it for a command; an error without words is told.
perl -MIO::Socket::UNIX -e '
  my $listen = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 5) or die "listen: $!";
  open(my $ready, ">", "$ARGV[0].ready") or die;
  my @errors = (q({"kind":"not_found","message":"no such\n::error::forged\n  ::error::again"}), q("broken"), q({}));
  while (my $client = $listen->accept) {
    my $request = <$client>;
    print $client qq({"version":1,"error":$errors[0]}\n);
    push @errors, shift @errors;
    close $client;
  }' "$work/c.sock" &
server=$!
trap 'kill $server' EXIT
eventually [ -e "$work/c.sock.ready" ]
for verb in runs queue finalizers; do
  echo "# $verb" >&2
  "$kubewatch" run-controller $verb --socket "$work/c.sock"
  echo "# exit $?" >&2
done
exit 0
