#!/usr/bin/perl
# Every test that a table of capabilities names is there: FILE.md... with rows whose last cell names
# tests, as `room/file_test "beginning of a name", "another"`, `e2e "..."`, `cli case NAME`,
# `mutant NAME`, `example NAME`, `tests/model "guarantee"`, `tests/PATH`. Run from the source tree.
# With --ran BUILD first: and that it passed when all tests of this build ran last. Of what ctest does
# not run itself (mutants, benchmarks, scripts) only that it is there.
use strict;
use warnings;

my $wrong = 0;
my $named = 0;

sub complain {
  my ($where, $what) = @_;
  print "$where: $what\n";
  ++$wrong;
}

my $build = @ARGV > 1 && $ARGV[0] eq '--ran' ? (splice(@ARGV, 0, 2))[1] : undef;
my (%passed, %e2e_passed);
my $ran = 0;

sub read_passed {
  open(my $log, '<', "$build/Testing/Temporary/LastTest.log") or die "no tests have run in $build: $!\n";
  my $name = '';
  while (my $line = <$log>) {
    # Of unit tests CMake eats the space behind the room.
    $name = $1 =~ s/^(\w+): /$1:/r if $line =~ m{^\d+/\d+ Testing: (.*)$};
    $passed{$name} = 1 if $line =~ /^Test Passed\.$/;
  }
  for my $server ('sandbox', 'kube-apiserver') {
    open(my $in, '<', "$build/tests/e2e/results/$server") or next;
    while (my $line = <$in>) { $e2e_passed{$1} = 1 if $line =~ /^pass (.*)$/; }
  }
}

# `names`: one of them is enough.
sub check_ran {
  my ($where, $what, @names) = @_;
  return unless defined $build;
  ++$ran;
  complain($where, "$what did not run, or did not pass") unless grep { $passed{$_} } @names;
}

my %names_of;
sub names_of {
  my ($path) = @_;
  return $names_of{$path} if $names_of{$path};
  local (@ARGV, $/) = ($path);
  my $text = <>;
  my @names;
  while ($text =~ /(?:TEST_CASE|E2E_CASE)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)/g) {
    my $name = $1;
    $name =~ s/"\s*"//g;
    $name =~ s/^"|"\s*$//g;
    push @names, $name;
  }
  return $names_of{$path} = \@names;
}

sub check_names {
  my ($where, $what, $quoted, @paths) = @_;
  while ($quoted =~ /"([^"]+)"/g) {
    my $begin = $1;
    ++$named;
    my @found;
    for my $path (@paths) {
      my ($room) = $path =~ m{^tests/([a-z0-9]+)/};
      for my $name (grep { index($_, $begin) == 0 } @{names_of($path)}) {
        push @found, "$room:$name";
        $passed{"e2e:$name"} = 1 if $room eq 'e2e' && $e2e_passed{$name};
      }
    }
    if (@found) { check_ran($where, "\"$begin\"", @found); }
    else { complain($where, "$what has no test that begins with \"$begin\""); }
  }
}

sub check_cell {
  my ($where, $room, $cell) = @_;
  my $before = $named;
  while ($cell =~ m{(?:([a-z0-9]+)/)?([a-z0-9_]+_test)\b((?:(?:,?\s*(?:and\s*)?"[^"]+")|(?:\s*\([^)]*\)))*)}g) {
    my ($in, $file, $quoted) = ($1 // $room, $2, $3);
    # Without a room it is the table's own, or the only file of that name.
    my ($path) = grep { -e } "tests/$in/$file.cpp", defined $1 ? () : glob("tests/*/$file.cpp");
    ++$named;
    if ($path) {
      my ($its) = $path =~ m{^tests/([a-z0-9]+)/};
      check_ran($where, $path, map { "$its:$_" } @{names_of($path)}) unless $quoted =~ /"/;
      check_names($where, $path, $quoted, $path);
    }
    else { complain($where, "no file tests/$in/$file.cpp"); }
  }
  while ($cell =~ m{\be2e ((?:,?\s*"[^"]+")+)}g) {
    check_names($where, 'tests/e2e', $1, glob('tests/e2e/*.cpp'));
  }
  while ($cell =~ m{\bcli case ([a-z0-9-]+)}g) {
    ++$named;
    complain($where, "no case $1") unless -e "tests/cli/cases/$1.sh";
    check_ran($where, "cli case $1", "cli:$1");
  }
  while ($cell =~ m{\bmutant ([a-z0-9-]+)}g) {
    ++$named;
    complain($where, "no mutant $1") unless -e "tests/model/mutants/$1.patch";
  }
  while ($cell =~ m{\bexample ([a-z0-9-]+)}g) {
    ++$named;
    my @found = glob("examples/$1/*test*.yaml");
    complain($where, "no example $1 with tests") unless @found;
    check_ran($where, "example $1", "example:$1");
  }
  while ($cell =~ m{\btests/([a-z0-9_/-]+)}g) {
    ++$named;
    my @found = (glob("tests/$1"), glob("tests/$1.*"));
    complain($where, "no tests/$1") unless grep { -e } @found;
  }
  complain($where, "names no test") if $named == $before;
}

read_passed() if defined $build;
for my $file (@ARGV) {
  my ($room) = $file =~ m{lib/([a-z]+)/};
  open(my $in, '<', $file) or die "$file: $!\n";
  my $header = 1;
  while (my $line = <$in>) {
    if ($line !~ /^\|/) { $header = 1; next; }
    if ($header) { $header = 0; next; }
    next if $line =~ /^\|\s*-/;
    my @cells = split(/\|/, $line);
    pop @cells while @cells && $cells[-1] =~ /^\s*$/;
    check_cell("$file:$.", $room // '', $cells[-1]);
  }
}
print defined $build ? "$named tests named, $ran looked for among those that passed, $wrong missing\n"
                     : "$named tests named, $wrong missing\n";
exit($wrong == 0 && $named > 0 ? 0 : 1);
