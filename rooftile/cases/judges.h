// Judges that many operators need: what makes the results of a call right, where comparing every element with a
// reference would be too much, too little, or impossible.
//
//   cases.judge = [](const Case& c, std::span<const HostTensor> inputs) -> Result<Judge> {
//     return sorted_pairs({.keys = &inputs[0], .values = &inputs[1], .stable = true});
//   };
//
// All of them: NaN never passes by being incomparable; an output of another size than it must have is a mismatch.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/core/case.h"

namespace rooftile {

// The usual one: every element of every output by its rule (compare.h), or those that Expected::indices names.
[[nodiscard]] Judge element_by_element(std::vector<std::string> names, std::vector<Expected> expected);

// Right where all of them say so: joint conditions over several outputs, and more than one kind.
[[nodiscard]] Judge all_of(std::vector<Judge> judges);

// Which elements of an output to compute where all would take too long: `count` in rising order, of them every corner of
// the tiles of `tile` rows and columns (the first, last and partial ones), the others drawn from the seed.
struct SampledMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t tile = 128;
  std::int64_t count = 4096;
};
[[nodiscard]] std::vector<std::int64_t> sampled_indices(const SampledMatrix& matrix, std::uint64_t seed);

// The same of very many elements in a row: the first and last thousands and, in between, one of every 128, so that no 255
// side by side go unseen.
[[nodiscard]] std::vector<std::int64_t> sampled_indices(std::int64_t numel, std::uint64_t seed);

// Of a matrix C = L(x) that is linear in its right factor: C r against L(r) for 16 vectors r of random signs
// (Freivalds 1977). Finds one wrong element of any number where it is off by more than some 6 sqrt(columns) tolerances, and
// two columns that changed places but for one pair in 2^15.
struct LinearMatrix {
  std::string name;  // of the output
  std::size_t output = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  // L(r), in double.
  std::function<std::vector<double>(std::span<const double> r)> product;
  double tolerance = 0;  // of one element of C
};
[[nodiscard]] Judge freivalds(LinearMatrix matrix, std::uint64_t seed);

// Output 0 holds the keys in rising (falling) order, output 1, where there are values, what came with each key. Both
// are a permutation of the inputs; a stable sort keeps the order of equal keys. NaNs of either sign are the last in
// rising order and equal to each other, -0 and +0 are equal: std::stable_sort by that order.
struct SortedPairs {
  const HostTensor* keys = nullptr;
  const HostTensor* values = nullptr;
  bool falling = false;
  bool stable = true;
};
[[nodiscard]] Judge sorted_pairs(SortedPairs sort);

// The k largest elements of each row of `in`, in falling order, or the smallest in rising order: output 0 the values, output
// 1 (i32 or i64) where they stand. Of equal values any may be chosen, each once, or, of a stable one, that with the lower
// index first. Where they are not sorted any order will do. NaN counts as the largest, -0 and +0 are equal.
struct TopK {
  const HostTensor* in = nullptr;
  std::int64_t k = 0;
  bool largest = true;
  bool sorted = true;
  bool stable = false;
};
[[nodiscard]] Judge top_k(TopK top);

// The first elements of output 0, in order or in any, are `chosen`, bit for bit, and output 1 (i32 or i64, one element) is
// their count, or `count` where that is less: what a partition writes behind the chosen ones. What lies behind them is the
// operator's own.
struct Selected {
  HostTensor chosen;
  bool in_order = true;
  std::optional<std::int64_t> count{};
};
[[nodiscard]] Judge selected(Selected selection);

// Counts of outcomes with these probabilities in `trials` draws: each within the exact binomial interval that a right
// generator misses once in 10^9. `outcome` says which of them an element of the output is; -1: none that is allowed.
struct Distribution {
  std::string name;
  std::size_t output = 0;
  std::vector<double> probabilities;
  std::function<int(const HostTensor& output, std::int64_t element)> outcome;
};
[[nodiscard]] Judge distributed(Distribution distribution);
// The interval itself: counts that less than `miss` of right generators are outside of.
struct CountInterval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] CountInterval binomial_interval(std::int64_t trials, double probability, double miss);

// Output `output` is the gradient of `loss` at x: <gradient, d> against (loss(x + h d) - loss(x - h d)) / 2h in double,
// for `directions` random directions d of signs. `loss` sees x as doubles.
struct Gradient {
  std::string name;
  std::size_t output = 0;
  const HostTensor* x = nullptr;
  std::function<double(std::span<const double> x)> loss;
  double step = 1e-4;
  double tolerance = 0;  // of one directional derivative
  int directions = 16;
};
[[nodiscard]] Judge gradient(Gradient gradient, std::uint64_t seed);

}  // namespace rooftile
