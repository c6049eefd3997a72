#!/usr/bin/perl
# What stands between a user and an API server and answers in its place: discovery is as it should be,
# everything else is what the first part of the path says: /html a proxy's page, /status a Status under 200,
# /redirect, /missing a page under 404, /nowhere what an API server says of paths that it does not have, /deep a list of
# one object that is nested too deep to be kept whole. /silent has a group whose discovery
# fails until FILE.answers is there; that holds the kinds that it has then. /narrow is a server for somebody with
# rights in the namespaces shop and empty alone; in the namespace gone it is not there any more, and what it was asked
# is in FILE.asked. /slow takes a second for each write, and watches tell of what was written, a while later.
# /leaseless lets nobody have a Lease. /named is for somebody who may read each object by its name, and no list.
# /odd has objects whose names are flags and folders. With /all before one of these, and with /all/500, /all/503,
# /all/login (a page in JSON) and /all/nothing (no version of anything), discovery is answered like that, too.
# no_api_server.pl FILE: listens, writes the port to FILE, serves until it is killed.
use strict;
use warnings;
use IO::Socket::INET;

my $listen = IO::Socket::INET->new(Listen => 20, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "listen: $!";
open(my $port, '>', "$ARGV[0].new") or die;
print $port $listen->sockport();
close $port;
rename "$ARGV[0].new", $ARGV[0] or die;
$SIG{CHLD} = 'IGNORE';

my $deep = '{"kind":"WidgetList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":'
  . '{"name":"a","namespace":"default","uid":"u","resourceVersion":"4","generation":3},"spec":' . '[' x 250
  . ']' x 250 . ',"status":{"conditions":[{"type":"Stalled","status":"True"}]}}]}';
my %discovery = (
  '/api' => '{"kind":"APIVersions","versions":["v1"]}',
  '/apis' => '{"kind":"APIGroupList","apiVersion":"v1","groups":[]}',
  '/api/v1' => '{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"widgets","singularName":'
    . '"widget","namespaced":true,"kind":"Widget","verbs":["get","list","watch","patch"]}]}',
);

sub widget {
  my ($name, $dying) = @_;
  return qq({"apiVersion":"v1","kind":"Widget","metadata":{"name":"$name","namespace":"shop","uid":"u-$name",)
    . '"resourceVersion":"4"' . ($dying // '') . '}}';
}
my $held = ',"deletionTimestamp":"2030-01-01T00:00:00Z","finalizers":["kubewatch.dev/guard"]';

sub answer {
  my ($client, $status, $body, $more) = @_;
  print $client "HTTP/1.1 $status\r\nContent-Type: application/json\r\n", $more // '', 'Content-Length: ',
    length($body), "\r\nConnection: close\r\n\r\n", $body;
}

sub narrow {
  my ($client, $method, $path) = @_;
  open(my $asked, '>>', "$ARGV[0].asked") or die;
  print $asked "$method $path\n";
  close $asked;
  my ($namespace, $name) = $path =~ m{^/api/v1/(?:namespaces/(\w+)/)?widgets(?:/(\w+))?$} or exit;
  exit if ($namespace // '') eq 'gone';
  if (($namespace // '') !~ /^(shop|empty)$/) {
    my $verb = defined $name ? 'get' : 'list';
    my $what = defined $name ? qq(widgets \\"$name\\") : 'widgets';
    my $where = defined $namespace ? qq(in the namespace \\"$namespace\\") : 'at the cluster scope';
    return answer($client, '403 Forbidden',
      qq({"kind":"Status","apiVersion":"v1","status":"Failure","message":"$what is forbidden: )
        . qq(User \\"narrow\\" cannot $verb resource \\"widgets\\" in API group \\"\\" $where",)
        . '"reason":"Forbidden","code":403}');
  }
  if (!defined $name) {
    my $items = $namespace eq 'shop' ? widget('a', $held) . ',' . widget('b') : '';
    return answer($client, '200 OK', '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":'
        . qq({"resourceVersion":"5"},"items":[$items]}));
  }
  if ($namespace eq 'shop' && $name eq 'a') {
    return answer($client, '200 OK', widget('a', $method eq 'PATCH' ? '' : $held));
  }
  answer($client, '404 Not Found', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":'
      . qq("widgets \\"$name\\" not found","reason":"NotFound","code":404}));
}

sub named {
  my ($client, $request) = @_;
  my ($name) = $request =~ m{metadata\.name(?:%3D|=)(\w+)};
  return answer($client, '403 Forbidden', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"widgets is '
      . 'forbidden: by name only","reason":"Forbidden","code":403}')
    unless defined $name;
  answer($client, '200 OK',
    '{"kind":"WidgetList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[' . widget($name) . ']}');
}

sub slow {
  my ($client, $request, $path) = @_;
  my ($name) = $request =~ m{(?:widgets/|metadata\.name(?:%3D|=))(\w+)};
  my $object = widget($name // '') =~ s/"resourceVersion":"4"/"resourceVersion":"9"/r;
  my $made = "$ARGV[0].made." . ($name // '');
  if ($request =~ /^PATCH/) {
    sleep 1;
    open(my $file, '>', $made) or die;
    return answer($client, '201 Created', $object);
  }
  if ($request =~ /watch=/) {
    print $client "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    $client->flush;
    for (1 .. 300) {
      last if -e $made;
      select undef, undef, undef, 0.1;
    }
    select undef, undef, undef, 0.4;
    print $client qq({"type":"ADDED","object":$object}\n);
    $client->flush;
    sleep 30;
    return;
  }
  return answer($client, '200 OK',
    '{"kind":"WidgetList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}')
    if $path =~ /widgets$/;
  answer($client, '404 Not Found', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":'
      . qq("widgets \\"$name\\" not found","reason":"NotFound","code":404}));
}

while (my $client = $listen->accept) {
  next if fork;
  my $request = <$client> // exit;
  my $length = 0;
  while (defined(my $line = <$client>)) {
    last if $line =~ /^\r?$/;
    $length = $1 if $line =~ /^Content-Length: (\d+)/i;
  }
  read($client, my $body, $length) if $length;
  my ($all, $mode, $path) = $request =~ m{^\w+ (/all)?/(\w+)(/[^ ?]*)} or exit;
  my $answers = "$ARGV[0].answers";
  if ($mode eq 'silent' && $path eq '/apis') {
    answer($client, '200 OK', '{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"ex.io","versions":[{'
        . '"groupVersion":"ex.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"ex.io/v1","version":"v1"}}]}');
  } elsif ($mode eq 'silent' && $path eq '/apis/ex.io/v1' && -e $answers) {
    open(my $kinds, '<', $answers) or die;
    answer($client, '200 OK',
      '{"kind":"APIResourceList","groupVersion":"ex.io/v1","resources":[' . join('', <$kinds>) . ']}');
  } elsif ($mode eq 'silent' && $path eq '/apis/ex.io/v1') {
    answer($client, '503 Service Unavailable',
      '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"service unavailable","code":503}');
  } elsif (!$all && $discovery{$path}) {
    answer($client, '200 OK', $discovery{$path});
  } elsif ($mode =~ /^50[03]$/) {
    answer($client, "$mode Out Of Order", "no backend");
  } elsif ($mode eq 'html') {
    answer($client, '200 OK', '<html><body>please log in</body></html>');
  } elsif ($mode eq 'login') {
    answer($client, '200 OK', '{"error":"please log in"}');
  } elsif ($mode eq 'nothing') {
    answer($client, '200 OK', $path eq '/api' ? '{"kind":"APIVersions","versions":[]}' : $discovery{'/apis'});
  } elsif ($mode eq 'odd' && $request !~ /watch=/) {
    answer($client, '200 OK', '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":'
        . '{"resourceVersion":"5"},"items":[' . join(',', map { widget($_) } qw(--exec=reboot -f .. . web a/b)) . ']}');
  } elsif ($mode eq 'status') {
    answer($client, '200 OK', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":500}');
  } elsif ($mode eq 'missing') {
    answer($client, '404 Not Found', '<html><head><title>Nothing here</title></head></html>');
  } elsif ($mode eq 'nowhere') {
    answer($client, '404 Not Found', "404 page not found\n");
  } elsif ($mode eq 'redirect') {
    answer($client, '302 Found', '', "Location: http://other.example/login\r\n");
  } elsif ($mode eq 'narrow' && $request !~ /watch=/) {
    narrow($client, $request =~ /^(\w+)/, $path);
  } elsif ($mode eq 'named' && $request !~ /watch=/) {
    named($client, $request);
  } elsif ($mode eq 'slow') {
    slow($client, $request, $path);
  } elsif ($mode eq 'leaseless' && $path =~ m{/leases\b}) {
    answer($client, '403 Forbidden', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"leases is '
        . 'forbidden: not for you","reason":"Forbidden","code":403}');
  } elsif ($request =~ /watch=/) {
    sleep 30;
  } elsif ($mode eq 'silent' || $mode eq 'leaseless') {
    answer($client, '200 OK', '{"kind":"WidgetList","apiVersion":"ex.io/v1","metadata":{"resourceVersion":"5"},"items":[]}');
  } else {
    answer($client, '200 OK', $deep);
  }
  exit;
}
