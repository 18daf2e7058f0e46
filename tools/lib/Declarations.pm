# Sources as tokens and top-level declarations, without a compiler: what tools/rung_digest makes slices of.
#
# Comments, white space and line breaks are gone, and so is what nvcc does not see: branches of `#if defined(X)` where
# %kDefined says so. Other conditions stay, both branches. Where a declaration's names cannot be told it has none, and
# whoever makes a slice takes it in. Uses nothing beyond Debian's perl-base.
package Declarations;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(read_declarations is_identifier tokens_of);

# As nvcc compiles the kernels.
my %kDefined = (ROOFTILE_SIM => 0, ROOFTILE_CHECKED => 0, ROOFTILE_WITH_CUDA => 1, __CUDACC__ => 1);
# Followed by parentheses, they are no function's name.
my %kAttribute = map { $_ => 1 } qw(__launch_bounds__ __attribute__ __align__ alignas decltype explicit noexcept
  requires __maxnreg__ __cluster_dims__ __block_size__ static_assert);
my %kKeyword = map { $_ => 1 } qw(
  alignas auto bool break case char class const constexpr consteval constinit const_cast continue decltype default
  delete do double else enum explicit extern false float for friend if inline int long mutable namespace new noexcept
  nullptr operator private protected public register reinterpret_cast requires return short signed sizeof static
  static_assert static_cast struct switch template this throw true try typedef typename union unsigned using virtual
  void volatile while std __device__ __host__ __global__ __shared__ __constant__ __forceinline__ __restrict__);

sub is_identifier { my ($token) = @_; return $token =~ /^[A-Za-z_]/ && !$kKeyword{$token}; }

# The tokens of a text; a directive is one token that starts with '#'. Adjacent strings are one.
sub tokens_of {
  my ($text) = @_;
  my @tokens;
  my $line_start = 1;
  while (1) {
    if ($text =~ /\G\n/gc) { $line_start = 1; next; }
    next if $text =~ /\G(?:[^\S\n]+|\\\n)/gc;
    next if $text =~ /\G\/\/[^\n]*/gc || $text =~ /\G\/\*.*?\*\//gcs;
    if ($line_start && $text =~ /\G#((?:\\\n|\/\*.*?\*\/|[^\n])*)/gcs) {
      my $directive = $1;
      $directive =~ s/\\\n/ /g;
      if ($directive =~ /^\s*include/) {
        $directive =~ s/^\s*include\s*//;
        push @tokens, "#include $directive";
      } else {
        my @words = tokens_of($directive);
        # A macro with parameters is another one than a macro whose text starts with a parenthesis.
        my $call = $directive =~ /^\s*define\s+\w+\(/ ? "(" : "";
        push @tokens, "#" . join(" ", @words[0 .. ($#words < 1 ? $#words : 1)]) . $call .
          join("", map { " $_" } @words[2 .. $#words]);
      }
      next;
    }
    $line_start = 0;
    if ($text =~ /\G(R"([^(\s]*)\(.*?\)\2")/gcs || $text =~ /\G("(?:\\.|[^"\\])*")/gcs) {
      my $string = $1;
      if (@tokens && $string =~ /^"/ && $tokens[-1] =~ /^"/) { $tokens[-1] = substr($tokens[-1], 0, -1) . substr($string, 1); }
      else { push @tokens, $string; }
      next;
    }
    if ($text =~ /\G('(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|'\w|[\w.])*|::|->|\S)/gcs) {
      push @tokens, $1;
      next;
    }
    last;
  }
  return @tokens;
}

# Drops the branches that nvcc does not see, and the includes, which it returns.
sub preprocess {
  my ($tokens) = @_;
  my (@kept, @includes, @stack);  # of the stack: 1 seen, 0 not seen, undef either
  my $dead = 0;
  for my $token (@$tokens) {
    if ($token !~ /^#/) { push @kept, $token unless $dead; next; }
    if ($token =~ /^#(if|ifdef|ifndef)\b ?(.*)/) {
      my ($kind, $condition) = ($1, $2);
      $condition = "defined ( $condition )" if $kind eq 'ifdef';
      $condition = "! defined ( $condition )" if $kind eq 'ifndef';
      my $seen;
      if ($condition =~ /^(! )?defined \(? ?(\w+)( \))?$/ && exists $kDefined{$2}) {
        $seen = $1 ? !$kDefined{$2} : $kDefined{$2};
      }
      push @kept, "#if $condition" if !$dead && !defined $seen;
      push @stack, { seen => $seen, outer => $dead };
      $dead = 1 if defined $seen && !$seen;
    } elsif ($token =~ /^#(else|elif)\b/ && @stack) {
      my $top = $stack[-1];
      next if $top->{outer};
      if (!defined $top->{seen}) { push @kept, $token; next; }
      # An #elif after a known condition is not judged: it counts as seen where the first branch does not.
      $dead = $top->{seen} ? 1 : 0;
    } elsif ($token =~ /^#endif\b/ && @stack) {
      my $top = pop @stack;
      $dead = $top->{outer};
      push @kept, '#endif' if !$dead && !defined $top->{seen};
    } elsif (!$dead) {
      if ($token =~ /^#include "([^"]+)"/) { push @includes, $1; }
      elsif ($token !~ /^#(include|error|undef|pragma once)/) { push @kept, $token; }
    }
  }
  return (\@kept, \@includes);
}

# The place behind the bracket that closes the one at `at`.
sub behind {
  my ($t, $at, $open, $close) = @_;
  my $depth = 0;
  for (; $at < @$t; ++$at) {
    if ($t->[$at] eq $open) { ++$depth; }
    elsif ($t->[$at] eq '(' && $open eq '<') { $at = behind($t, $at, '(', ')') - 1; }
    elsif ($t->[$at] eq $close && --$depth == 0) { return $at + 1; }
    elsif ($open eq '<' && $t->[$at] =~ /^[;{]$/) { return $at; }
  }
  return $at;
}

# What a declaration declares; empty where it cannot be told.
sub declared_names {
  my ($t) = @_;
  my $i = 0;
  while ($i < @$t) {
    if ($t->[$i] eq 'template') { ++$i; $i = behind($t, $i, '<', '>') if ($t->[$i] // '') eq '<'; }
    elsif ($t->[$i] eq 'requires') { return []; }
    elsif ($t->[$i] eq '[' && ($t->[$i + 1] // '') eq '[') { $i = behind($t, $i, '[', ']'); }
    elsif ($t->[$i] =~ /^(inline|static|constexpr|consteval|constinit|extern|typedef|friend|const|__device__|__host__|__global__)$/) { ++$i; }
    elsif ($kAttribute{$t->[$i]} && ($t->[$i + 1] // '') eq '(') { $i = behind($t, $i + 1, '(', ')'); }
    else { last; }
  }
  my $first = $t->[$i] // '';
  if ($first eq 'using' || $first eq 'concept') {
    return [] if ($t->[$i + 1] // '') eq 'namespace';
    my $last;
    for my $token (@$t[$i + 1 .. $#$t]) { last if $token =~ /^[=;]$/; $last = $token if $token =~ /^\w/; }
    return defined $last ? [$last] : [];
  }
  if ($first =~ /^(class|struct|union|enum)$/) {
    my $scoped = 0;
    my @names;
    for (++$i; $i < @$t && $t->[$i] !~ /^[{:;<=]$/; ++$i) {
      if ($t->[$i] =~ /^(class|struct)$/) { $scoped = 1; next; }
      if ($t->[$i] eq '[') { $i = behind($t, $i, '[', ']') - 1; next; }
      if ($kAttribute{$t->[$i]}) { $i = behind($t, $i + 1, '(', ')') - 1; next; }
      push @names, $t->[$i] if is_identifier($t->[$i]) && $t->[$i] ne 'final';
    }
    if ($first eq 'enum' && !$scoped) {
      my $after = '';
      for my $token (@$t[$i .. $#$t]) { push @names, $token if $after =~ /^[{,]$/ && $token =~ /^[A-Za-z_]/; $after = $token; }
    }
    return \@names;
  }
  # A function or a variable: the name stands before its parameters, its value or its end.
  for (; $i < @$t; ++$i) {
    my $token = $t->[$i];
    if ($token eq 'operator') {
      # Whoever has one of the types that it takes may call it.
      my $open = $i + 1;
      ++$open while $open < @$t && $t->[$open] ne '(';
      $open += 2 if ($t->[$open + 1] // '') eq ')' && ($t->[$open + 2] // '') eq '(';
      my $end = behind($t, $open, '(', ')');
      return [grep { is_identifier($_) } @$t[$open .. $end - 1]];
    }
    if ($token eq '<') { $i = behind($t, $i, '<', '>') - 1; next; }
    if ($kAttribute{$token} && ($t->[$i + 1] // '') eq '(') { $i = behind($t, $i + 1, '(', ')') - 1; next; }
    if ($token eq '[' && ($t->[$i + 1] // '') eq '[') { $i = behind($t, $i, '[', ']') - 1; next; }
    next unless $token =~ /^[(={;\[,]$/;
    my @names;
    for (my $at = $i - 1; $at >= 0; --$at) {
      if ($t->[$at] eq '>') { my $depth = 0; do { $depth += $t->[$at] eq '>' ? 1 : $t->[$at] eq '<' ? -1 : 0; --$at; } while ($depth > 0 && $at >= 0); ++$at; next; }
      last unless is_identifier($t->[$at]);
      push @names, $t->[$at];
      last unless $at > 0 && $t->[$at - 1] eq '::';
      --$at;
    }
    return \@names;
  }
  return [];
}

# Whether it declares a type, behind whose body more may stand.
sub starts_type {
  my ($t) = @_;
  my $i = 0;
  while (($t->[$i] // '') eq 'template') { $i = behind($t, $i + 1, '<', '>'); }
  return ($t->[$i] // '') =~ /^(class|struct|union|enum|typedef)$/;
}

# Declarations of the tokens: {tokens, names, text, local}. `local`: in an anonymous namespace.
sub split_declarations {
  my ($t) = @_;
  my (@chunks, @current, @spaces);
  my ($depth, $has_value, $unnamed) = (0, 0, 0);
  my $close = sub {
    return unless @current;
    my @tokens = @current;
    @current = ();
    $has_value = 0;
    return if $tokens[0] eq 'static_assert' || "@tokens" eq ';';
    if ($tokens[0] =~ /^[{,]$/ && @chunks) {  # of a constructor, or another declarator
      push @{ $chunks[-1]{tokens} }, @tokens;
      return;
    }
    push @chunks, { tokens => \@tokens, local => $unnamed > 0 };
  };
  for (my $i = 0; $i < @$t; ++$i) {
    my $token = $t->[$i];
    if ($token =~ /^#(define|if|else|elif|endif)/ && ($1 eq 'define' || ($depth == 0 && !@current))) {
      my $name = $token =~ /^#define (\w+)/ ? $1 : undef;
      push @chunks, { tokens => [$token], names => $name ? [$name] : [], local => 0 };
      next;
    }
    if ($depth == 0 && !@current) {
      if ($token eq '}') { return undef unless @spaces; --$unnamed unless pop @spaces; next; }
      my $open = $i;
      ++$open if $token eq 'inline';
      if ($t->[$open] eq 'namespace' || ($token eq 'extern' && ($t->[$i + 1] // '') =~ /^"/ && ($t->[$i + 2] // '') eq '{')) {
        my $end = $open;
        ++$end while $end < @$t && $t->[$end] !~ /^[{;=]$/;
        if (($t->[$end] // '') eq '{') {
          my $named = $end > $open + 1;
          push @spaces, $named;
          ++$unnamed unless $named;
          $i = $end;
          next;
        }
      }
      # A macro's call in capitals needs no semicolon.
      if ($token =~ /^[A-Z][A-Z0-9_]+$/ && ($t->[$i + 1] // '') eq '(') {
        my $end = behind($t, $i + 1, '(', ')');
        if (($t->[$end] // '}') =~ /^([A-Z][A-Z0-9_]+|\}|namespace|#.*)$/) {
          my @tokens = @$t[$i .. $end - 1];
          push @chunks, { tokens => \@tokens, names => [grep { is_identifier($_) } @tokens], local => 0 };
          $i = $end - 1;
          next;
        }
      }
    }
    if ($depth == 0 && $token eq 'template' && ($t->[$i + 1] // '') eq '<') {  # its defaults are no value
      my $end = behind($t, $i + 1, '<', '>');
      push @current, @$t[$i .. $end - 1];
      $i = $end - 1;
      next;
    }
    push @current, $token;
    if ($token =~ /^[({\[]$/) { ++$depth; }
    elsif ($token =~ /^[)}\]]$/) {
      return undef if --$depth < 0;
      if ($depth == 0 && $token eq '}') {
        my $next = $t->[$i + 1] // '';
        my $type = starts_type(\@current);
        $close->() unless $next =~ /^[;,]$/ || $has_value || ($type && $next =~ /^\w/);
      }
    } elsif ($depth == 0 && $token eq ';') { $close->(); }
    elsif ($depth == 0 && $token eq '=' && !grep { $_ eq 'operator' } @current) { $has_value = 1; }
  }
  $close->();
  return $depth == 0 && !@spaces ? \@chunks : undef;
}

# read_declarations(PATH): {includes, chunks}, or undef where there is no such file.
sub read_declarations {
  my ($path) = @_;
  open(my $in, '<', $path) or return undef;
  local $/;
  my $text = <$in>;
  my ($tokens, $includes) = preprocess([tokens_of($text)]);
  my $chunks = split_declarations($tokens);
  # Brackets that do not pair: all of it is one declaration of unknown names.
  $chunks = [{ tokens => $tokens, names => [], local => 0, doubtful => 1 }] unless $chunks;
  for my $chunk (@$chunks) {
    $chunk->{names} //= declared_names($chunk->{tokens});
    $chunk->{file} = $path;
    $chunk->{text} = join(' ', @{ $chunk->{tokens} });
  }
  return { includes => $includes, chunks => $chunks };
}

1;
