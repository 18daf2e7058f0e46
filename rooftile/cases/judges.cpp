#include "rooftile/cases/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "rooftile/cases/compare.h"
#include "rooftile/cases/elements.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/core/philox.h"

namespace rooftile {
namespace {

Judgement wrong(std::string what) { return {.mismatch = std::move(what)}; }

// Judges read as many outputs as they judge: fewer are a mistake of the operator's cases.
std::string too_few(std::span<const HostTensor> outputs, std::size_t wanted) {
  return outputs.size() >= wanted ? "" : fmt::format("{} outputs, the judge has {}", outputs.size(), wanted);
}

// +1 or -1.
std::vector<double> random_signs(std::int64_t count, std::uint64_t seed, std::uint64_t which) {
  constexpr std::uint64_t kStream = 0x7369676e'7369676e;  // not the words of the fills
  std::vector<double> signs(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const PhiloxCounter words = philox4x32_10(philox_counter(i, which), philox_key(seed ^ kStream));
    signs[i] = (words.x & 1u) != 0 ? 1.0 : -1.0;
  }
  return signs;
}

// Two tensors that a sort moves together, one element of either.
struct Entry {
  std::uint64_t order = 0;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  [[nodiscard]] auto all() const { return std::tuple(order, key, value); }
};

std::vector<Entry> entries(const HostTensor& keys, const HostTensor* values, bool falling) {
  std::vector<Entry> list(static_cast<std::size_t>(keys.numel()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::uint64_t order = order_bits(keys, at);
    list[i] = {falling ? ~order : order, element_bits(keys, at),
               values != nullptr ? element_bits(*values, at) : 0};
  }
  return list;
}

std::string shape_mismatch(const char* what, const HostTensor& got, const HostTensor& like) {
  if (got.dtype() == like.dtype() && got.numel() == like.numel()) return "";
  return fmt::format("{} are {}{}, not as many and of the dtype of the input's {}{}", what,
                     to_string(got.dtype()), got.shape().to_string(), to_string(like.dtype()),
                     like.shape().to_string());
}

// An element of a row: of two the one that top_k has first is the lesser.
struct Ranked {
  std::uint64_t order = 0;
  std::int64_t index = 0;
  auto operator<=>(const Ranked&) const = default;
};

Extents rows_of(const HostTensor& in) {
  const std::int64_t n = in.shape()[in.shape().rank() - 1];
  return {n == 0 ? 0 : in.numel() / n, n};
}

// Elements first ... last - 1 of a row, or the k best of them, in any order. What is behind the k best of the beginning is passed
// over at once.
std::vector<Ranked> best_of_part(const TopK& top, std::int64_t row_at, std::int64_t first,
                                 std::int64_t last) {
  std::vector<Ranked> best;
  Ranked worst{~std::uint64_t{0}, last};
  const auto cut = [&] {
    std::nth_element(best.begin(), best.begin() + top.k - 1, best.end());
    best.resize(static_cast<std::size_t>(top.k));
    worst = best.back();
  };
  for (std::int64_t i = first; i < last; ++i) {
    const std::uint64_t order = order_bits(*top.in, row_at + i);
    const Ranked x{top.largest ? ~order : order, i};
    if (x > worst) continue;
    best.push_back(x);
    if (std::ssize(best) >= 2 * top.k + 4096) cut();
  }
  if (std::ssize(best) > top.k) cut();
  return best;
}

// The k best of each row, in order.
std::vector<Ranked> best_of_rows(const TopK& top) {
  constexpr std::int64_t kPart = 1 << 20;
  const Extents rows = rows_of(*top.in);
  const std::int64_t parts = (rows[1] + kPart - 1) / kPart;
  const std::int64_t k = std::min(top.k, rows[1]);
  std::vector<Ranked> all;
  if (k == 0) return all;
  std::vector<std::vector<Ranked>> of_parts(static_cast<std::size_t>(rows[0] * parts));
  in_parallel(rows[0] * parts, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t task = from; task < to; ++task) {
      const std::int64_t first = task % parts * kPart;
      of_parts[static_cast<std::size_t>(task)] =
          best_of_part(top, task / parts * rows[1], first, std::min(first + kPart, rows[1]));
    }
  });
  for (std::int64_t row = 0; row < rows[0]; ++row) {
    std::vector<Ranked> of_row;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::vector<Ranked>& some = of_parts[static_cast<std::size_t>(row * parts + part)];
      of_row.insert(of_row.end(), some.begin(), some.end());
    }
    std::partial_sort(of_row.begin(), of_row.begin() + k, of_row.end());
    all.insert(all.end(), of_row.begin(), of_row.begin() + k);
  }
  return all;
}

// What is wrong with a row of results; empty: nothing.
std::string judge_row(const TopK& top, std::span<const HostTensor> outputs, std::int64_t row,
                      std::span<const Ranked> wanted) {
  const std::int64_t n = rows_of(*top.in)[1];
  std::vector<Ranked> got;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < std::ssize(wanted); ++i) {
    const std::int64_t at = row * std::ssize(wanted) + i;
    const auto index = static_cast<std::int64_t>(outputs[1].at(at));
    if (index < 0 || index >= n) return fmt::format("index {} is {}, outside of the row", i, index);
    const std::uint64_t order = order_bits(outputs[0], at);
    got.push_back({top.largest ? ~order : order, index});
    indices.push_back(index);
  }
  if (!top.sorted) std::sort(got.begin(), got.end());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].order != wanted[i].order)
      return fmt::format("value {}{} is not the {}. {}", i, top.sorted ? "" : ", when they are sorted,",
                         i + 1, top.largest ? "largest" : "smallest");
    if (top.stable && got[i].index != wanted[i].index)
      return fmt::format("index {}{} is {}, and of equal values the one at {} comes first", i,
                         top.sorted ? "" : ", when they are sorted,", got[i].index, wanted[i].index);
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto at = row * std::ssize(wanted) + static_cast<std::int64_t>(i);
    if (element_bits(*top.in, row * n + indices[i]) != element_bits(outputs[0], at))
      return fmt::format("index {} is {}, where another value stands", i, indices[i]);
  }
  std::sort(indices.begin(), indices.end());
  if (const auto twice = std::adjacent_find(indices.begin(), indices.end()); twice != indices.end())
    return fmt::format("index {} was taken before", *twice);
  return "";
}

double log_binomial(std::int64_t n, std::int64_t k, double p) {
  const auto total = static_cast<double>(n);
  const auto hits = static_cast<double>(k);
  return std::lgamma(total + 1) - std::lgamma(hits + 1) - std::lgamma(total - hits + 1) + hits * std::log(p) +
         (total - hits) * std::log1p(-p);
}

}  // namespace

Judge element_by_element(std::vector<std::string> names, std::vector<Expected> expected) {
  // A Judge is copied; references are large.
  auto shared = std::make_shared<const std::vector<Expected>>(std::move(expected));
  return [names = std::move(names), shared](std::span<const HostTensor> outputs) {
    Judgement judgement;
    if (outputs.size() != shared->size())
      return wrong(fmt::format("{} outputs, the reference has {}", outputs.size(), shared->size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Comparison comparison = compare(outputs[i], (*shared)[i]);
      judgement.max_error = std::max(judgement.max_error, comparison.max_error);
      if (!comparison.mismatch.empty())
        judgement.nan_bits_alone =
            (judgement.mismatch.empty() || judgement.nan_bits_alone) && comparison.nan_bits_alone;
      if (!comparison.mismatch.empty() && judgement.mismatch.empty())
        judgement.mismatch =
            fmt::format("{} {}", i < names.size() ? names[i] : "output", comparison.mismatch);
      judgement.allowed.push_back(comparison.allowed);
      if (const std::size_t seen = (*shared)[i].indices.size(); seen > 0)
        judgement.sampled = fmt::format("{} of {} elements", seen, outputs[i].numel());
    }
    return judgement;
  };
}

Judge all_of(std::vector<Judge> judges) {
  return [judges = std::move(judges)](std::span<const HostTensor> outputs) {
    Judgement all;
    for (const Judge& judge : judges) {
      Judgement one = judge(outputs);
      all.max_error = std::max(all.max_error, one.max_error);
      if (all.sampled.empty() && !one.sampled.empty()) {
        all.sampled = std::move(one.sampled);
        all.allowed = std::move(one.allowed);
      }
      for (std::size_t i = 0; i < one.results.size(); ++i) {
        if (i == all.results.size())
          all.results.push_back(one.results[i]);
        else
          all.results[i] = std::min(all.results[i], one.results[i]);
      }
      if (one.mismatch.empty()) continue;
      // The first that is more than NaNs of other bits is told.
      const bool is_first = all.mismatch.empty();
      if (is_first || (all.nan_bits_alone && !one.nan_bits_alone)) all.mismatch = std::move(one.mismatch);
      all.nan_bits_alone = (is_first || all.nan_bits_alone) && one.nan_bits_alone;
    }
    return all;
  };
}

std::vector<std::int64_t> sampled_indices(const SampledMatrix& matrix, std::uint64_t seed) {
  // Of a side: the first and last of the first tile, of one in the middle, of the last whole one and of the rest.
  const auto edges = [&](std::int64_t extent) {
    std::vector<std::int64_t> at;
    const std::int64_t whole = extent / matrix.tile;
    for (const std::int64_t tile : {std::int64_t{0}, whole / 2, whole - 1, whole}) {
      for (const std::int64_t i : {tile * matrix.tile, (tile + 1) * matrix.tile - 1}) {
        if (i >= 0 && i < extent) at.push_back(i);
      }
    }
    at.push_back(extent - 1);
    return at;
  };
  const std::int64_t all = matrix.rows * matrix.columns;
  if (all <= matrix.count) {
    std::vector<std::int64_t> every(static_cast<std::size_t>(all));
    std::iota(every.begin(), every.end(), std::int64_t{0});
    return every;
  }
  std::set<std::int64_t> indices;
  for (const std::int64_t row : edges(matrix.rows)) {
    for (const std::int64_t column : edges(matrix.columns)) indices.insert(row * matrix.columns + column);
  }
  for (std::uint64_t i = 0; std::ssize(indices) < matrix.count; ++i) {
    const PhiloxCounter words = philox4x32_10(philox_counter(i, 0), philox_key(seed));
    indices.insert(static_cast<std::int64_t>((std::uint64_t{words.x} << 32 | words.y) >> 1) % all);
  }
  return {indices.begin(), indices.end()};
}

std::vector<std::int64_t> sampled_indices(std::int64_t numel, std::uint64_t seed) {
  constexpr std::int64_t kEnds = 4096;
  constexpr std::int64_t kStretch = 128;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < kEnds; ++i) indices.push_back(i);
  for (std::int64_t i = kEnds; i + kStretch <= numel - kEnds; i += kStretch) {
    const PhiloxCounter words =
        philox4x32_10(philox_counter(static_cast<std::uint64_t>(i), 0), philox_key(seed));
    indices.push_back(i + words.x % kStretch);
  }
  for (std::int64_t i = numel - kEnds; i < numel; ++i) indices.push_back(i);
  return indices;
}

Judge freivalds(LinearMatrix matrix, std::uint64_t seed) {
  constexpr std::uint64_t kVectors = 16;
  constexpr double kDeviations = 6;
  struct Side {
    std::vector<double> r;
    std::vector<double> wanted;
  };
  auto sides = std::make_shared<std::vector<Side>>();
  for (std::uint64_t i = 0; i < kVectors; ++i) {
    Side side{.r = random_signs(matrix.columns, seed, i), .wanted = {}};
    side.wanted = matrix.product(side.r);
    sides->push_back(std::move(side));
  }
  return [matrix = std::move(matrix), sides](std::span<const HostTensor> outputs) {
    if (std::string what = too_few(outputs, matrix.output + 1); !what.empty()) return wrong(what);
    const HostTensor& c = outputs[matrix.output];
    if (c.numel() != matrix.rows * matrix.columns)
      return wrong(fmt::format("{} has {} elements, not {} x {}", matrix.name, c.numel(), matrix.rows,
                               matrix.columns));
    const double allowed = kDeviations * std::sqrt(static_cast<double>(matrix.columns)) * matrix.tolerance;
    if (!std::isfinite(allowed)) return wrong(matrix.name + ": the tolerance is not finite");
    for (const Side& side : *sides) {
      if (std::ssize(side.wanted) != matrix.rows)
        return wrong(matrix.name + ": the reference's product has another length");
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        double got = 0;
        for (std::int64_t j = 0; j < matrix.columns; ++j)
          got += c.at(row * matrix.columns + j) * side.r[static_cast<std::size_t>(j)];
        const double off = std::abs(got - side.wanted[static_cast<std::size_t>(row)]);
        if (!(off <= allowed)) {
          return wrong(fmt::format(
              "{} row {}: its product with a random vector is off by {:.3g} where {:.3g} is allowed",
              matrix.name, row, off, allowed));
        }
      }
    }
    return Judgement{};
  };
}

Judge sorted_pairs(SortedPairs sort) {
  auto wanted = std::make_shared<std::vector<Entry>>(entries(*sort.keys, sort.values, sort.falling));
  const auto by_order = [](const Entry& a, const Entry& b) { return a.order < b.order; };
  const auto by_all = [](const Entry& a, const Entry& b) { return a.all() < b.all(); };
  if (sort.stable)
    std::stable_sort(wanted->begin(), wanted->end(), by_order);
  else
    std::sort(wanted->begin(), wanted->end(), by_all);
  return [sort, wanted, by_all](std::span<const HostTensor> outputs) {
    if (std::string what = too_few(outputs, sort.values != nullptr ? 2 : 1); !what.empty())
      return wrong(what);
    const HostTensor* const values = sort.values != nullptr ? &outputs[1] : nullptr;
    if (std::string what = shape_mismatch("the keys", outputs[0], *sort.keys); !what.empty())
      return wrong(what);
    if (values != nullptr) {
      if (std::string what = shape_mismatch("the values", *values, *sort.values); !what.empty())
        return wrong(what);
    }
    std::vector<Entry> got = entries(outputs[0], values, sort.falling);
    for (std::size_t i = 1; i < got.size(); ++i) {
      if (got[i].order < got[i - 1].order)
        return wrong(fmt::format("keys {} and {} are not in order", i - 1, i));
    }
    if (!sort.stable) std::sort(got.begin(), got.end(), by_all);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].key != (*wanted)[i].key) {
        return wrong(fmt::format(
            "the keys are no permutation of the input's: the first that is missing or too many has place {}",
            i));
      }
      if (got[i].value != (*wanted)[i].value) {
        return wrong(fmt::format("value {} is {}", i,
                                 sort.stable ? "not the one that a stable sort has there" : "not the key's"));
      }
    }
    return Judgement{};
  };
}

Judge top_k(TopK top) {
  auto best = std::make_shared<const std::vector<Ranked>>(best_of_rows(top));
  return [top, best](std::span<const HostTensor> outputs) {
    if (std::string what = too_few(outputs, 2); !what.empty()) return wrong(what);
    const HostTensor& in = *top.in;
    const Extents rows = rows_of(in);
    const std::int64_t k = std::min(top.k, rows[1]);
    if (outputs[0].dtype() != in.dtype() || outputs[0].numel() != rows[0] * k ||
        outputs[1].numel() != rows[0] * k) {
      return wrong(fmt::format("the values are {}{}, the indices {}: {} of each row are wanted",
                               to_string(outputs[0].dtype()), outputs[0].shape().to_string(),
                               outputs[1].shape().to_string(), k));
    }
    for (std::int64_t row = 0; row < rows[0]; ++row) {
      const std::span<const Ranked> wanted(best->data() + row * k, static_cast<std::size_t>(k));
      if (std::string what = judge_row(top, outputs, row, wanted); !what.empty())
        return wrong(fmt::format("row {}: {}", row, what));
    }
    return Judgement{};
  };
}

Judge selected(Selected selection) {
  auto shared = std::make_shared<const Selected>(std::move(selection));
  return [shared](std::span<const HostTensor> outputs) {
    if (std::string what = too_few(outputs, 2); !what.empty()) return wrong(what);
    const HostTensor& chosen = shared->chosen;
    const std::int64_t elements = chosen.numel();
    const std::int64_t count = shared->count.value_or(elements);
    if (outputs[1].numel() != 1 || outputs[1].at(0) != static_cast<double>(count))
      return wrong(fmt::format("the count is {:.0f}, not {}",
                               outputs[1].numel() == 1 ? outputs[1].at(0) : NAN, count));
    if (outputs[0].dtype() != chosen.dtype() || outputs[0].numel() < elements)
      return wrong(fmt::format("the output {} has no room for {} elements of {}",
                               outputs[0].shape().to_string(), elements, to_string(chosen.dtype())));
    const Judgement right{.results = {elements, 1}};
    const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(chosen.dtype());
    if (bytes == 0 || std::memcmp(outputs[0].data(), chosen.data(), bytes) == 0) return right;
    std::vector<std::uint64_t> got;
    std::vector<std::uint64_t> wanted;
    for (std::int64_t i = 0; i < elements; ++i) {
      got.push_back(element_bits(outputs[0], i));
      wanted.push_back(element_bits(chosen, i));
    }
    if (!shared->in_order) {
      std::sort(got.begin(), got.end());
      std::sort(wanted.begin(), wanted.end());
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == wanted[i]) continue;
      return wrong(shared->in_order
                       ? fmt::format("selected element {} is not the {}. that was to be chosen", i, i + 1)
                       : std::string("the selected elements are not the set that was to be chosen"));
    }
    return right;
  };
}

CountInterval binomial_interval(std::int64_t trials, double probability, double miss) {
  if (!(probability > 0.0)) return {0, 0};
  if (!(probability < 1.0)) return {trials, trials};
  CountInterval interval{0, trials};
  for (double tail = 0; interval.low < trials; ++interval.low) {
    tail += std::exp(log_binomial(trials, interval.low, probability));
    if (tail > miss / 2) break;
  }
  for (double tail = 0; interval.high > 0; --interval.high) {
    tail += std::exp(log_binomial(trials, interval.high, probability));
    if (tail > miss / 2) break;
  }
  return interval;
}

Judge distributed(Distribution distribution) {
  constexpr double kMiss = 1e-9;
  return [distribution = std::move(distribution)](std::span<const HostTensor> outputs) {
    if (std::string what = too_few(outputs, distribution.output + 1); !what.empty()) return wrong(what);
    const HostTensor& output = outputs[distribution.output];
    std::vector<std::int64_t> counts(distribution.probabilities.size());
    for (std::int64_t i = 0; i < output.numel(); ++i) {
      const int outcome = distribution.outcome(output, i);
      if (outcome < 0 || outcome >= std::ssize(counts))
        return wrong(
            fmt::format("{} element {}: {:.9g} cannot be drawn", distribution.name, i, output.at(i)));
      ++counts[static_cast<std::size_t>(outcome)];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const CountInterval interval = binomial_interval(output.numel(), distribution.probabilities[i], kMiss);
      if (counts[i] >= interval.low && counts[i] <= interval.high) continue;
      return wrong(fmt::format("{}: outcome {} was drawn {} times of {}, expected {} to {}",
                               distribution.name, i, counts[i], output.numel(), interval.low, interval.high));
    }
    return Judgement{};
  };
}

Judge gradient(Gradient gradient, std::uint64_t seed) {
  struct Direction {
    std::vector<double> d;
    double slope = 0;
  };
  auto directions = std::make_shared<std::vector<Direction>>();
  const std::int64_t n = gradient.x->numel();
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = gradient.x->at(i);
  for (int which = 0; which < gradient.directions; ++which) {
    Direction direction{.d = random_signs(n, seed, static_cast<std::uint64_t>(which)), .slope = 0};
    std::vector<double> there = x;
    std::vector<double> back = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      there[i] += gradient.step * direction.d[i];
      back[i] -= gradient.step * direction.d[i];
    }
    direction.slope = (gradient.loss(there) - gradient.loss(back)) / (2 * gradient.step);
    directions->push_back(std::move(direction));
  }
  return [gradient = std::move(gradient), directions, n](std::span<const HostTensor> outputs) {
    Judgement judgement;
    if (std::string what = too_few(outputs, gradient.output + 1); !what.empty()) return wrong(what);
    const HostTensor& got = outputs[gradient.output];
    if (got.numel() != n)
      return wrong(fmt::format("{} has {} elements, x has {}", gradient.name, got.numel(), n));
    for (const Direction& direction : *directions) {
      double slope = 0;
      for (std::int64_t i = 0; i < n; ++i) slope += got.at(i) * direction.d[static_cast<std::size_t>(i)];
      const double off = std::abs(slope - direction.slope);
      if (!(off <= gradient.tolerance)) {
        judgement.mismatch = fmt::format(
            "{}: its slope in a random direction is {:.9g}, by differences {:.9g}: off by {:.3g} "
            "where {:.3g} is allowed",
            gradient.name, slope, direction.slope, off, gradient.tolerance);
        return judgement;
      }
      judgement.max_error = std::max(judgement.max_error, off);
    }
    return judgement;
  };
}

}  // namespace rooftile
