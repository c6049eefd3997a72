#!/usr/bin/perl
# Every test that a table of capabilities names is there: FILE.md... with rows whose last cell names
# tests, as `room/file_test "beginning of a name", "another"`, `e2e "..."`, `cli case NAME`,
# `mutant NAME`, `example NAME`, `tests/model "guarantee"`, `tests/PATH`. Run from the source tree.
use strict;
use warnings;

my $wrong = 0;
my $named = 0;

sub complain {
  my ($where, $what) = @_;
  print "$where: $what\n";
  ++$wrong;
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
    my $found = grep { my $path = $_; grep { index($_, $begin) == 0 } @{names_of($path)} } @paths;
    complain($where, "$what has no test that begins with \"$begin\"") unless $found;
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
    if ($path) { check_names($where, $path, $quoted, $path); }
    else { complain($where, "no file tests/$in/$file.cpp"); }
  }
  while ($cell =~ m{\be2e ((?:,?\s*"[^"]+")+)}g) {
    check_names($where, 'tests/e2e', $1, glob('tests/e2e/*.cpp'));
  }
  while ($cell =~ m{\bcli case ([a-z0-9-]+)}g) {
    ++$named;
    complain($where, "no case $1") unless -e "tests/cli/cases/$1.sh";
  }
  while ($cell =~ m{\bmutant ([a-z0-9-]+)}g) {
    ++$named;
    complain($where, "no mutant $1") unless -e "tests/model/mutants/$1.patch";
  }
  while ($cell =~ m{\bexample ([a-z0-9-]+)}g) {
    ++$named;
    my @found = glob("examples/$1/*test*.yaml");
    complain($where, "no example $1 with tests") unless @found;
  }
  while ($cell =~ m{\btests/([a-z0-9_/-]+)}g) {
    ++$named;
    my @found = (glob("tests/$1"), glob("tests/$1.*"));
    complain($where, "no tests/$1") unless grep { -e } @found;
  }
  complain($where, "names no test") if $named == $before;
}

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
print "$named tests named, $wrong missing\n";
exit($wrong == 0 && $named > 0 ? 0 : 1);
