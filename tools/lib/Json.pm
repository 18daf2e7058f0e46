# JSON as Perl's hashes, lists and strings, with what a bare Perl has. Lists of numbers come back empty: what reads
# records here asks for no samples.
package Json;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(read_json);

my $text;

sub value {
  $text =~ /\G\s+/gc;
  if ($text =~ /\G\{/gc) {
    my %object;
    $text =~ /\G\s+/gc;
    return \%object if $text =~ /\G\}/gc;
    while (1) {
      $text =~ /\G\s*"((?:\\.|[^"\\])*)"\s*:/gc or die "a key is missing\n";
      my $key = $1;
      $object{$key} = value();
      next if $text =~ /\G\s*,/gc;
      return \%object if $text =~ /\G\s*\}/gc;
      die "an object does not end\n";
    }
  }
  return [] if $text =~ /\G\[[-+0-9.eE,\s]*\]/gc;
  if ($text =~ /\G\[/gc) {
    my @list;
    while (1) {
      push @list, value();
      next if $text =~ /\G\s*,/gc;
      return \@list if $text =~ /\G\s*\]/gc;
      die "a list does not end\n";
    }
  }
  if ($text =~ /\G"((?:\\.|[^"\\])*)"/gc) {
    my $string = $1;
    $string =~ s/\\(["\\\/])/$1/g;
    return $string;
  }
  return 1 if $text =~ /\Gtrue/gc;
  return 0 if $text =~ /\Gfalse/gc;
  return undef if $text =~ /\Gnull/gc;
  return $1 if $text =~ /\G([-+0-9.eE]+)/gc;
  die "no value\n";
}

# Dies with a line that says what is wrong.
sub read_json {
  my ($path) = @_;
  open(my $in, '<', $path) or die "cannot read it\n";
  local $/;
  $text = <$in>;
  pos($text) = 0;
  my $json = value();
  $text =~ /\G\s*\z/gc or die "something follows the value\n";
  return $json;
}

1;
