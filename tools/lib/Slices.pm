# Slices of the sources: declarations, and what they reach by name in the project files that they include
# (docs/records.md). Paths are from the root of the tree, which is the current directory.
package Slices;
use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use Declarations qw(read_declarations is_identifier);
our @EXPORT_OK = qw(file slice text_of);

# A slice ends at the form of a call and its errors: what carries arguments to a launcher decides no time. So it does at
# declarations alone (rungs.h), and at the simulator, which is not what a GPU runs.
my $kEnds = qr{^rooftile/(?:sim|lab)/|/rungs\.h$|
  ^rooftile/device/(?:cuda_)?launch\.h$|
  ^rooftile/core/(?:detail/.*|dtype\.cpp|
    (?:any_args|api|args|case|context|describe|device|element|memory|operator|params|registry|rung|status|stream|view|workspace)\.(?:h|cpp))$}x;

my %files;  # path -> declarations, or undef
sub file { my ($path) = @_; $files{$path} = read_declarations($path) unless exists $files{$path}; return $files{$path}; }

# The file and all that it includes, with the .cpp beside each header, as far as slices go.
my %reached;
sub reachable {
  my ($start) = @_;
  return $reached{$start} if $reached{$start};
  my @queue = ($start);
  my %seen = ($start => 1);
  for (my $at = 0; $at < @queue; ++$at) {
    my $path = $queue[$at];
    my $file = file($path) or next;
    my @next = map { -e $_ ? $_ : dirname($path) . "/$_" } @{ $file->{includes} };
    (my $source = $path) =~ s/\.h$/.cpp/;
    push @next, $source if $source ne $path;
    for my $other (@next) {
      push @queue, $other if !$seen{$other}++ && $other !~ $kEnds && file($other);
    }
  }
  return $reached{$start} = [@queue];
}

my %indexes;  # start -> name -> chunks
sub index_of {
  my ($start) = @_;
  return $indexes{$start} if $indexes{$start};
  my %index;
  for my $path (@{ reachable($start) }) {
    for my $chunk (@{ file($path)->{chunks} }) {
      next if $chunk->{table};
      push @{ $index{$_} }, $chunk for @{ $chunk->{names} };
      # Nobody can tell what refers to it.
      push @{ $index{''} }, $chunk unless @{ $chunk->{names} };
    }
  }
  return $indexes{$start} = \%index;
}

# The declarations that these tokens reach from the file `start`, their own chunks first.
sub slice {
  my ($start, $own, $tokens) = @_;
  my $index = index_of($start);
  my (%taken, %known);
  my @queue = grep { !$_->{table} } @$own;
  $taken{$_} = 1 for @queue;
  push @queue, grep { !$taken{$_}++ } @{ $index->{''} // [] };
  my $take = sub {
    my ($from, $words) = @_;
    for my $word (@$words) {
      for my $chunk (@{ $index->{$word} // [] }) {
        next if $taken{$chunk} || ($chunk->{local} && $chunk->{file} =~ /\.(cpp|cu)$/ && $from && $from ne $chunk->{file});
        $taken{$chunk} = 1;
        push @queue, $chunk;
      }
    }
  };
  $take->('', $tokens);
  for (my $at = 0; $at < @queue; ++$at) { $take->($queue[$at]{file}, words_of($queue[$at])); }
  return \@queue;
}

sub words_of {
  my ($chunk) = @_;
  return $chunk->{words} //= do {
    my %words = map { $_ => 1 } grep { is_identifier($_) } map { /^#/ ? split(/\W+/) : $_ } @{ $chunk->{tokens} };
    [sort keys %words];
  };
}

# Where a declaration stands decides nothing, nor does the order.
sub text_of { my ($slice) = @_; return join("\n", sort map { $_->{text} } @$slice) . "\n"; }

1;
