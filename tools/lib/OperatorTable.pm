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

# read_table(OP, FOLDER): {rows => name -> {path, tokens}, common => what is set for several rows at once, choose => {path,
# tokens} or undef, files => where rows may stand}.
sub read_table {
  my ($op, $folder) = @_;
  my %table = (rows => {}, common => [], choose => undef, files => []);
  for my $path (sort glob("$folder/${op}_*.cpp")) {
    next if $path =~ /_(cases|ref|test|cpu|peers_\w+)\.cpp$/;
    push @{ $table{files} }, $path;
    for my $chunk (@{ file($path)->{chunks} }) {
      my $t = $chunk->{tokens};
      my $covered = -1;
      for (my $i = 0; $i + 2 < @$t; ++$i) {
        next unless $t->[$i] eq '.' && $t->[$i + 2] eq '=';
        my $field = $t->[$i + 1];
        if ($field eq 'id' || $field eq 'rung') {
          my ($fields, $open, $end) = fields_around($t, $i);
          my @value = @{ $fields->{$field} // [] };
          my ($text) = grep { /^"/ } @value;
          my $name = $text // (grep { /^\w+$/ } @value)[-1] // next;
          $name =~ s/"//g;
          my @kept = map { my $key = $_; ($key, @{ $fields->{$key} }) }
            grep { !/^(id|rung|idea|change|source|expects|wrong_on_purpose|determinism|launch)$/ } sort keys %$fields;
          $table{rows}{$name} = { path => $path, tokens => \@kept };
          # A function that stands beside the table is the rung itself.
          push @{ $table{rows}{$name}{tokens} }, grep { $_ ne $name || $text } @value if $field eq 'rung' && $text;
          $chunk->{table} = 1;
          $covered = $end;
        } elsif ($field eq 'choose') {
          my $end = $i + 3;
          for (my $depth = 0; $end < @$t; ++$end) {
            if ($t->[$end] =~ /^[({\[]$/) { ++$depth; }
            elsif ($t->[$end] =~ /^[)}\]]$/) { last if --$depth < 0; }
            elsif ($depth == 0 && $t->[$end] =~ /^[,;]$/) { last; }
          }
          $table{choose} = { path => $path, tokens => [@$t[$i + 3 .. $end - 1]] };
          $chunk->{table} = 1;
        } elsif ($i > $covered && $field =~ /^(supports|plan|workspace|arch)$/ && $t->[$i - 1] =~ /^\w/) {
          # Set for several rows at once: `for (RungRow& rung : rungs) rung.supports = ...;`
          my $end = $i;
          ++$end while $end < @$t && $t->[$end] ne ';';
          push @{ $table{common} }, { chunk => $chunk, tokens => [@$t[$i + 1 .. $end - 1]] };
        }
      }
    }
  }
  return \%table;
}

1;
