#include "rooftile/ops/reduce/reduce_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile {
namespace {

// Some axes of a row-major tensor.
struct AxesOf {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;

  [[nodiscard]] std::int64_t offset(std::int64_t index) const {
    if (extents.size() == 1) return index * strides[0];
    std::int64_t sum = 0;
    for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) sum += index % extents[d] * strides[d];
    return sum;
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t extent : extents) n *= extent;
    return n;
  }
  void add(std::int64_t extent, std::int64_t stride) {
    // Neighbours as one: a division less for each element.
    if (!extents.empty() && strides.back() == extent * stride) {
      extents.back() *= extent;
      strides.back() = stride;
    } else {
      extents.push_back(extent);
      strides.push_back(stride);
    }
  }
};

struct Problem {
  const HostTensor* in = nullptr;
  ReduceOp op = ReduceOp::sum;
  DType out_dtype = DType::f32;
  Extents out_shape;
  AxesOf kept;
  AxesOf meeting;
  std::int64_t reduced = 1;

  [[nodiscard]] std::int64_t outputs() const { return kept.count(); }
  [[nodiscard]] std::int64_t parts() const;  // of one output; at least one
  // The place of element r of output o.
  [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t r) const {
    return kept.offset(o) + meeting.offset(r);
  }
};

Result<Problem> make_problem(const Case& c, const HostTensor& in) {
  Problem p;
  p.in = &in;
  p.op = enum_value<ReduceOp>(c.params.get_string("op"));
  p.out_dtype = c.params.get_optional_dtype("out_dtype").value_or(reduce_out_dtype(p.op, in.dtype()));
  const ParamValue& named = c.params.at("axes");
  const auto* axes = std::get_if<std::vector<std::int64_t>>(&named);
  const Extents strides = contiguous_strides(in.shape());
  const int rank = in.shape().rank();
  std::vector<std::int64_t> out_shape;
  for (int d = 0; d < rank; ++d) {
    const bool meets = axes == nullptr || std::count(axes->begin(), axes->end(), d) > 0 ||
                       std::count(axes->begin(), axes->end(), d - rank) > 0;
    (meets ? p.meeting : p.kept).add(in.shape()[d], strides[d]);
    if (!meets) out_shape.push_back(in.shape()[d]);
    if (meets && c.params.get_bool("keepdims")) out_shape.push_back(1);
  }
  p.reduced = p.meeting.count();
  p.out_shape = Extents(out_shape);
  return p;
}

// What is computed of an output in one go; more of it in parts on all cores, put together in their order.
constexpr std::int64_t kPart = std::int64_t{1} << 16;

std::int64_t Problem::parts() const { return std::max<std::int64_t>((reduced + kPart - 1) / kPart, 1); }

// Calls part(o, number, first, last) for all parts [first, last) of what meets in every output.
template <class Part>
void for_each_part(const Problem& p, Part part) {
  const std::int64_t parts = p.parts();
  in_parallel(p.outputs() * parts, std::max<std::int64_t>(1, kPart / std::max<std::int64_t>(p.reduced, 1)),
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t i = first; i < last; ++i) {
                  const std::int64_t number = i % parts;
                  part(i / parts, i, number * kPart, std::min((number + 1) * kPart, p.reduced));
                }
              });
}

// Pairwise, the way that is known to be sound.
template <class Acc, class Value>
Acc pairwise_sum(std::int64_t first, std::int64_t last, const Value& value) {
  if (last - first <= 64) {
    Acc acc = 0;
    for (std::int64_t i = first; i < last; ++i) acc += value(i);
    return acc;
  }
  const std::int64_t middle = first + (last - first) / 2;
  return pairwise_sum<Acc>(first, middle, value) + pairwise_sum<Acc>(middle, last, value);
}

// One part of a sum, and all of them.
template <class Acc>
struct PartialSum {
  long double exact = 0;  // an f64 sum needs more than double to be judged by
  double squares = 0;
  Acc same = 0;  // in the operator's own precision
};

bool sums_exactly(const Case& c, std::int64_t n) {
  constexpr double kLargestInteger = 8.0;    // of Fill::small_integers
  constexpr double kExactIntegers = 0x1p24;  // fp32 holds every integer up to here
  return c.fill == Fill::small_integers && static_cast<double>(n) * kLargestInteger <= kExactIntegers;
}

template <class Acc>
void sum_up(const Problem& p, Expected& expected, std::vector<double>& norms) {
  const double divisor = p.op == ReduceOp::mean ? static_cast<double>(p.reduced) : 1.0;
  const std::int64_t parts = p.parts();
  std::vector<PartialSum<Acc>> sums(static_cast<std::size_t>(p.outputs() * parts));
  for_each_part(p, [&](std::int64_t o, std::int64_t number, std::int64_t first, std::int64_t last) {
    const std::int64_t base = p.kept.offset(o);
    const auto value = [&](std::int64_t r) { return p.in->at(base + p.meeting.offset(r)); };
    PartialSum<Acc>& sum = sums[static_cast<std::size_t>(number)];
    for (std::int64_t r = first; r < last; ++r) {
      const double x = value(r);
      sum.exact += x;
      sum.squares += x * x;
    }
    sum.same = pairwise_sum<Acc>(first, last, [&](std::int64_t r) { return static_cast<Acc>(value(r)); });
  });
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    const PartialSum<Acc>* const own = sums.data() + o * parts;
    long double exact = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
      exact += own[i].exact;
      squares += own[i].squares;
    }
    const Acc same = pairwise_sum<Acc>(0, parts, [&](std::int64_t i) { return own[i].same; });
    expected.exact.as<double>()[static_cast<std::size_t>(o)] =
        static_cast<double>(exact / static_cast<long double>(divisor));
    expected.same_precision.as<double>()[static_cast<std::size_t>(o)] =
        rounded_to(p.out_dtype, static_cast<double>(same) / divisor);
    norms[static_cast<std::size_t>(o)] = std::isfinite(squares) ? std::sqrt(squares) : 0.0;
  }
}

Result<Expected> float_sums(const Case& c, const Problem& p) {
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, p.out_shape));
  ROOFTILE_TRY_ASSIGN(expected.same_precision, HostTensor::create(DType::f64, p.out_shape));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, p.out_shape));
  const bool wide = p.in->dtype() == DType::f64;
  std::vector<double> norms(static_cast<std::size_t>(p.outputs()));
  if (wide)
    sum_up<double>(p, expected, norms);
  else
    sum_up<float>(p, expected, norms);
  const bool exact_sum = sums_exactly(c, p.reduced);
  if (exact_sum && p.op == ReduceOp::sum && unit_roundoff(p.out_dtype) <= 0x1p-24) {
    expected.factor = 0.0;
    expected.floors = {};
    expected.rule = "exact: every partial sum is an integer below 2^24";
    return expected;
  }
  // An addition rounds its result p by an error of variance (1.4 u p)^2 / 12, u being the accumulator's unit
  // roundoff. Over a serial chain of L random-signed terms p grows as a random walk, and all chains together
  // round off u * sqrt(L / 12) * |x|_2, x being what meets in this output. Four times that for one output, and what the
  // largest of many such errors adds: sqrt(16 + 2 ln outputs). One element left out of a million is a hundred times
  // larger. Then one rounding to the result's dtype, and its denormals.
  constexpr double kLongestChain = 1024.0;
  const double divisor = p.op == ReduceOp::mean ? static_cast<double>(p.reduced) : 1.0;
  const double deviations = std::sqrt(16.0 + 2.0 * std::log(std::max(1.0, static_cast<double>(p.outputs()))));
  const double chain =
      exact_sum ? 0.0 : deviations * (wide ? 0x1p-53 : 0x1p-24) * std::sqrt(kLongestChain / 12.0) / divisor;
  const double denormal = p.out_dtype == DType::f16 ? 0x1p-25 : 0.0;
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    const double exact = std::abs(expected.exact.at(o));
    const double rounding = std::isfinite(exact) ? 1.01 * unit_roundoff(p.out_dtype) * exact : 0.0;
    expected.floors.set(o, chain * norms[static_cast<std::size_t>(o)] + rounding + denormal);
  }
  expected.factor = 2.0;
  expected.rule =
      "twice the error of a pairwise sum, plus the rounding of serial chains of 1024 additions and of out";
  return expected;
}

Result<Expected> integer_sums(const Problem& p) {
  Expected expected;
  expected.factor = 0.0;
  expected.rule = "exact, modulo 2^64";
  const bool is_mean = p.op == ReduceOp::mean;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(is_mean ? DType::f64 : p.out_dtype, p.out_shape));
  const HostTensor& in = *p.in;
  const std::int64_t parts = p.parts();
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(p.outputs() * parts));
  for_each_part(p, [&](std::int64_t o, std::int64_t number, std::int64_t first, std::int64_t last) {
    const std::int64_t base = p.kept.offset(o);
    std::uint64_t sum = 0;
    for (std::int64_t r = first; r < last; ++r) {
      const auto i = static_cast<std::size_t>(base + p.meeting.offset(r));
      if (in.dtype() == DType::i64) {
        sum += static_cast<std::uint64_t>(in.as<std::int64_t>()[i]);
      } else if (in.dtype() == DType::u64) {
        sum += in.as<std::uint64_t>()[i];
      } else {
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(in.at(static_cast<std::int64_t>(i))));
      }
    }
    sums[static_cast<std::size_t>(number)] = sum;
  });
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    const std::uint64_t* const own = sums.data() + o * parts;
    const std::uint64_t sum = std::accumulate(own, own + parts, std::uint64_t{0});
    const auto at = static_cast<std::size_t>(o);
    if (!is_mean) {
      expected.exact.as<std::uint64_t>()[at] = sum;
      continue;
    }
    const double total = is_signed(in.dtype()) ? static_cast<double>(static_cast<std::int64_t>(sum))
                                               : static_cast<double>(sum);
    expected.exact.as<double>()[at] = rounded_to(p.out_dtype, total / static_cast<double>(p.reduced));
  }
  return expected;
}

// Whether element a beats element b, which stands before it.
bool beats(const HostTensor& in, std::int64_t a, std::int64_t b, bool largest) {
  const auto i = static_cast<std::size_t>(a);
  const auto j = static_cast<std::size_t>(b);
  if (in.dtype() == DType::i64) {
    return largest ? in.as<std::int64_t>()[i] > in.as<std::int64_t>()[j]
                   : in.as<std::int64_t>()[i] < in.as<std::int64_t>()[j];
  }
  if (in.dtype() == DType::u64) {
    return largest ? in.as<std::uint64_t>()[i] > in.as<std::uint64_t>()[j]
                   : in.as<std::uint64_t>()[i] < in.as<std::uint64_t>()[j];
  }
  const double x = in.at(a);
  const double y = in.at(b);
  if (std::isnan(y)) return false;
  if (std::isnan(x)) return true;
  return largest ? x > y : x < y;
}

Result<Expected> extremes(const Problem& p) {
  Expected expected;
  expected.factor = 0.0;
  expected.rule = "exact";
  const bool largest = p.op == ReduceOp::max || p.op == ReduceOp::argmax;
  const bool index = p.op == ReduceOp::argmin || p.op == ReduceOp::argmax;
  const HostTensor& in = *p.in;
  const DType dtype = index ? DType::i64 : (is_float(in.dtype()) ? DType::f64 : in.dtype());
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(dtype, p.out_shape));
  const std::int64_t parts = p.parts();
  std::vector<std::int64_t> bests(static_cast<std::size_t>(p.outputs() * parts));
  for_each_part(p, [&](std::int64_t o, std::int64_t number, std::int64_t first, std::int64_t last) {
    std::int64_t best = first;
    for (std::int64_t r = first + 1; r < last; ++r) {
      if (beats(in, p.at(o, r), p.at(o, best), largest)) best = r;
    }
    bests[static_cast<std::size_t>(number)] = best;
  });
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    std::int64_t best = bests[static_cast<std::size_t>(o * parts)];
    for (std::int64_t part = 1; part < parts; ++part) {
      const std::int64_t other = bests[static_cast<std::size_t>(o * parts + part)];
      if (beats(in, p.at(o, other), p.at(o, best), largest)) best = other;
    }
    const auto at = static_cast<std::size_t>(o);
    const auto from = static_cast<std::size_t>(p.at(o, best));
    if (index) {
      expected.exact.as<std::int64_t>()[at] = best;
    } else if (in.dtype() == DType::i64) {
      expected.exact.as<std::int64_t>()[at] = in.as<std::int64_t>()[from];
    } else if (in.dtype() == DType::u64) {
      expected.exact.as<std::uint64_t>()[at] = in.as<std::uint64_t>()[from];
    } else {
      expected.exact.set(o, in.at(static_cast<std::int64_t>(from)));
    }
  }
  return expected;
}

}  // namespace

Result<std::vector<Expected>> reduce_reference(const Case& c, std::span<const HostTensor> inputs) {
  ROOFTILE_TRY_ASSIGN(const Problem p, make_problem(c, inputs[0]));
  const bool sums = p.op == ReduceOp::sum || p.op == ReduceOp::mean;
  Result<Expected> expected = !sums                         ? extremes(p)
                              : is_float(inputs[0].dtype()) ? float_sums(c, p)
                                                            : integer_sums(p);
  if (!expected.ok()) return expected.status();
  std::vector<Expected> all;
  all.push_back(std::move(*expected));
  return all;
}

}  // namespace rooftile
