# What an operator's host code says of its rungs: the rows and choose(). Declarations that hold rows or the descriptor are
# marked as table, which keeps them out of slices: a sentence about a rung decides nothing.
package OperatorTable;
use strict;
use warnings;
use Exporter 'import';
use Slices qw(file);
our @EXPORT_OK = qw(read_table);

# The initialiser in braces around tokens[at]: its fields, name -> tokens, and its first and last place.
sub fields_around {
  my ($t, $at) = @_;
  my $open = $at;
  for (my $depth = 0; $open > 0; --$open) {
    if ($t->[$open] =~ /^[)}\]]$/) { ++$depth; }
    elsif ($t->[$open] =~ /^[({\[]$/) { last if $depth == 0; --$depth; }
  }
  my (%fields, $name);
  my ($depth, $end) = (0, $open);
  for (; $end < @$t; ++$end) {
    my $token = $t->[$end];
    if ($token =~ /^[({\[]$/) { push @{ $fields{$name} }, $token if $depth++ && defined $name; next; }
    if ($token =~ /^[)}\]]$/) { last if --$depth == 0; }
    if ($depth == 1 && $token eq '.' && ($t->[$end + 2] // '') eq '=' && ($t->[$end - 1] =~ /^[{,]$/)) {
      $name = $t->[$end + 1];
      $end += 2;
    } elsif ($depth == 1 && $token eq ',') { undef $name; }
    elsif (defined $name) { push @{ $fields{$name} }, $token; }
  }
  return (\%fields, $open, $end);
}

# The row whose field at tokens[at] names its rung: {name, tokens, first, last}. A row has an idea: what else names a rung
# (a plan's result, a line of a tuning table) is code like other code.
sub row_at {
  my ($t, $at) = @_;
  my ($fields, $first, $last) = fields_around($t, $at);
  return undef unless $fields->{idea};
  my $field = $t->[$at + 1];
  my @value = @{ $fields->{$field} // [] };
  my ($text) = grep { /^"/ } @value;
  my $name = $text // (grep { /^\w+$/ } @value)[-1] // return undef;
  $name =~ s/"//g;
  my @tokens = map { my $key = $_; ($key, @{ $fields->{$key} }) }
    grep { !/^(id|rung|idea|change|source|expects|wrong_on_purpose|determinism|launch)$/ } sort keys %$fields;
  # `cpu_rung("serial", &serial)`: the function stands beside the table. `lesson({.rung = ...})`: it completes the row.
  push @tokens, grep { !/^"/ } @value if $field eq 'rung' && $text;
  push @tokens, $t->[$first - 2] if $first >= 2 && $t->[$first - 1] eq '(' && $t->[$first - 2] =~ /^\w+$/ && $t->[$first - 2] ne 'describe';
  return { name => $name, tokens => \@tokens, first => $first, last => $last };
}

# The tokens of the value that starts at tokens[at].
sub value_at {
  my ($t, $at) = @_;
  my $end = $at;
  for (my $depth = 0; $end < @$t; ++$end) {
    if ($t->[$end] =~ /^[({\[]$/) { ++$depth; }
    elsif ($t->[$end] =~ /^[)}\]]$/) { last if --$depth < 0; }
    elsif ($depth == 0 && $t->[$end] =~ /^[,;]$/) { last; }
  }
  return [@$t[$at .. $end - 1]];
}

# What a function says of all of its rows: `for (RungRow& rung : rungs) rung.supports = ...;`. Sentences and the brackets
# and commas that come with another row are left out.
sub outside {
  my ($t, $rows) = @_;
  my @inside = map { [$_->{first}, $_->{last}] } @$rows;
  my @tokens;
  for my $i (0 .. $#$t) {
    next if $t->[$i] =~ /^("|[,(){}\[\]]$)/ || grep { $i >= $_->[0] && $i <= $_->[1] } @inside;
    push @tokens, $t->[$i];
  }
  return @tokens;
}

# read_table(OP, FOLDER): {rows => name -> {path, tokens}, choose => {path, tokens} or undef, files => where rows may
# stand}.
sub read_table {
  my ($op, $folder) = @_;
  my %table = (rows => {}, choose => undef, files => []);
  for my $path (sort glob("$folder/${op}_*.cpp")) {
    next if $path =~ /_(cases|ref|test|cpu|peers_\w+)\.cpp$/;
    push @{ $table{files} }, $path;
    for my $chunk (@{ file($path)->{chunks} }) {
      my $t = $chunk->{tokens};
      my (@rows, $is_descriptor);
      for my $i (grep { $t->[$_] eq '.' && ($t->[$_ + 2] // '') eq '=' } 0 .. $#$t) {
        if ($t->[$i + 1] =~ /^(id|rung)$/) {
          my $row = row_at($t, $i);
          push @rows, $row if $row;
        } elsif ($t->[$i + 1] eq 'choose') {
          $table{choose} = { path => $path, tokens => value_at($t, $i + 3) };
          $is_descriptor = 1;
        }
      }
      $chunk->{table} = 1 if @rows || $is_descriptor;
      my @more = $is_descriptor ? () : outside($t, \@rows);
      $table{rows}{ $_->{name} } = { path => $path, tokens => [@{ $_->{tokens} }, @more] } for @rows;
    }
  }
  return \%table;
}

1;
