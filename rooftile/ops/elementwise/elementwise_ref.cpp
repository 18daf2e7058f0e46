#include "rooftile/ops/elementwise/elementwise_ref.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/core/describe.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_program.h"

namespace rooftile {
namespace {

using elementwise_program::Compute;

// What is known of a result so far: its value, and by how much a sound implementation may be off. Error 0: it is rounded
// as IEEE 754 has it, and a value of what is computed in.
struct Known {
  long double value = 0;
  long double error = 0;
};

// How far functions may be off: in units of the last place (CUDA C++ Programming Guide, "Mathematical Functions", rounded
// up), and beside that by this much, where results are tiny.
struct Slack {
  long double units = 0;
  long double absolute = 0;
};

template <class Acc>
constexpr long double kUnit = std::numeric_limits<Acc>::epsilon();
template <class Acc>
constexpr long double kTiny = std::numeric_limits<Acc>::denorm_min();
// 1 / (1 + e^-x) is taken as 0 where e^-x is near the largest number or above it.
template <class Acc>
constexpr long double kFlushed = std::numeric_limits<Acc>::min() * 8;

long double twice_gelu_argument(long double x) {
  return 1.5957691216057307117597842397375L * (x + 0.044715L * x * x * x);
}
// x sigmoid(y), 0 where x is -infinity.
long double gated(long double x, long double y) {
  if (std::isinf(x) && x < 0) return -0.0L;
  return x / (1 + std::exp(-y));
}

template <class Acc>
Slack slack_of(ElementwiseOp op, const std::array<Known, 3>& arguments) {
  const long double x = arguments[0].value;
  const bool single = std::is_same_v<Acc, float>;
  switch (op) {
    case ElementwiseOp::sigmoid:
      return {6, kFlushed<Acc>};
    case ElementwiseOp::silu:
      return {8, kFlushed<Acc> * std::fabs(x)};
    case ElementwiseOp::gelu_tanh:
      // A rounding of the exponent is one of the result, times the exponent; beyond 800 there is nothing left to round.
      return {10 + 4 * std::min(std::fabs(twice_gelu_argument(x)), 800.0L), kFlushed<Acc> * std::fabs(x)};
    case ElementwiseOp::gelu_erf:
      return {4, 4 * kUnit<Acc> * std::fabs(x)};  // 1 + erf(x) cancels where x is negative
    case ElementwiseOp::pow:
      return {single ? 10.0L : 3.0L, 2 * kTiny<Acc>};
    default:
      return {3, 2 * kTiny<Acc>};
  }
}

// Functions that every implementation rounds alike, in Acc's own arithmetic.
template <class Acc>
bool exact_function(ElementwiseOp op, const ElementwiseArgs& args, const std::array<Acc, 3>& v, Acc& result) {
  const auto [x, y, z] = v;
  switch (op) {
    case ElementwiseOp::cast:
      return result = x, true;
    case ElementwiseOp::neg:
      return result = -x, true;
    case ElementwiseOp::abs:
      return result = std::fabs(x), true;
    case ElementwiseOp::relu:
      return result = x < 0 ? Acc{0} : x, true;
    case ElementwiseOp::sqrt:
      return result = std::sqrt(x), true;
    case ElementwiseOp::clamp:
      return result = std::isnan(x)
                          ? x
                          : std::min(std::max(x, static_cast<Acc>(args.low)), static_cast<Acc>(args.high)),
             true;
    case ElementwiseOp::add:
      return result = x + y, true;
    case ElementwiseOp::sub:
      return result = x - y, true;
    case ElementwiseOp::mul:
      return result = x * y, true;
    case ElementwiseOp::div:
      return result = x / y, true;
    case ElementwiseOp::min:
      return result = std::isnan(x) || std::isnan(y) ? x + y : std::fmin(x, y), true;
    case ElementwiseOp::max:
      return result = std::isnan(x) || std::isnan(y) ? x + y : std::fmax(x, y), true;
    case ElementwiseOp::saxpy:
      return result = std::fma(static_cast<Acc>(args.alpha), x, y), true;
    case ElementwiseOp::fma:
      return result = std::fma(x, y, z), true;
    case ElementwiseOp::where:
      return result = x != 0 ? y : z, true;
    default:
      return false;
  }
}

// The same and all others in long double.
long double real_function(ElementwiseOp op, const ElementwiseArgs& args,
                          const std::array<long double, 3>& v) {
  const long double x = v[0];
  long double result = 0;
  switch (op) {
    case ElementwiseOp::exp:
      return std::exp(x);
    case ElementwiseOp::log:
      return std::log(x);
    case ElementwiseOp::rsqrt:
      return 1 / std::sqrt(x);
    case ElementwiseOp::sin:
      return std::sin(x);
    case ElementwiseOp::tanh:
      return std::tanh(x);
    case ElementwiseOp::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ElementwiseOp::silu:
      return gated(x, x);
    case ElementwiseOp::gelu_erf:
      return std::isinf(x) && x < 0 ? -0.0L : x / 2 * std::erfc(-x * 0.70710678118654752440084436210485L);
    case ElementwiseOp::gelu_tanh:
      return gated(x, twice_gelu_argument(x));
    case ElementwiseOp::pow:
      return std::pow(x, v[1]);
    default:
      exact_function<long double>(op, args, v, result);
      return result;
  }
}

// What overflows in Acc is infinite from there on.
template <class Acc>
long double within(long double value) {
  if (std::fabs(value) <= std::numeric_limits<Acc>::max() || std::isnan(value)) return value;
  return static_cast<Acc>(value);
}

template <class Acc>
Known apply(ElementwiseOp op, const ElementwiseArgs& args, const std::array<Known, 3>& arguments) {
  const Known& x = arguments[0];
  if (x.error == 0) {
    std::array<Acc, 3> exact;
    for (std::size_t i = 0; i < 3; ++i) exact[i] = static_cast<Acc>(arguments[i].value);
    Acc result = 0;
    if (exact_function(op, args, exact, result)) return {result, 0};
  }
  const auto at = [&](long double first) {
    return within<Acc>(real_function(op, args, {first, arguments[1].value, arguments[2].value}));
  };
  Known result{at(x.value), 0};
  if (!std::isfinite(result.value) || !std::isfinite(x.value)) return result;
  // A selection by an inexact number is one that a case should not make.
  const Slack slack = slack_of<Acc>(op, arguments);
  result.error = slack.units * kUnit<Acc> * std::fabs(result.value) + slack.absolute;
  if (x.error > 0) {
    const long double up = std::fabs(at(x.value + x.error) - result.value);
    const long double down = std::fabs(at(x.value - x.error) - result.value);
    result.error += std::max(up, down);
  }
  return result;
}

// Reads and writes one element of any integer dtype: modulo 2^64.
std::uint64_t integer_at(const HostTensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  switch (tensor.dtype()) {
    case DType::i8:
      return static_cast<std::uint64_t>(std::int64_t{tensor.as<std::int8_t>()[at]});
    case DType::i16:
      return static_cast<std::uint64_t>(std::int64_t{tensor.as<std::int16_t>()[at]});
    case DType::i32:
      return static_cast<std::uint64_t>(std::int64_t{tensor.as<std::int32_t>()[at]});
    case DType::i64:
      return static_cast<std::uint64_t>(tensor.as<std::int64_t>()[at]);
    case DType::u8:
      return tensor.as<std::uint8_t>()[at];
    case DType::u16:
      return tensor.as<std::uint16_t>()[at];
    case DType::u32:
      return tensor.as<std::uint32_t>()[at];
    default:
      return tensor.as<std::uint64_t>()[at];
  }
}
void set_integer(HostTensor& tensor, std::int64_t i, std::uint64_t value) {
  // Little-endian: the low bytes are the value modulo 2^bits.
  static_assert(std::endian::native == std::endian::little);
  const std::size_t size = size_of(tensor.dtype());
  std::memcpy(static_cast<std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * size, &value, size);
}

// kSigned: whether the bits are a signed number's where that matters.
template <bool kSigned>
std::uint64_t integer_function(ElementwiseOp op, const ElementwiseArgs& args,
                               const std::array<std::uint64_t, 3>& v) {
  using Number = std::conditional_t<kSigned, std::int64_t, std::uint64_t>;
  const auto [x, y, z] = v;
  const auto a = static_cast<Number>(x);
  const auto b = static_cast<Number>(y);
  const auto less = [](Number p, Number q) { return p < q; };
  const bool negative = kSigned && static_cast<std::int64_t>(x) < 0;
  switch (op) {
    case ElementwiseOp::neg:
      return 0 - x;
    case ElementwiseOp::abs:
      return negative ? 0 - x : x;
    case ElementwiseOp::relu:
      return negative ? 0 : x;
    case ElementwiseOp::clamp:
      return static_cast<std::uint64_t>(
          std::min(std::max(a, static_cast<Number>(args.low), less), static_cast<Number>(args.high), less));
    case ElementwiseOp::add:
      return x + y;
    case ElementwiseOp::sub:
      return x - y;
    case ElementwiseOp::mul:
      return x * y;
    case ElementwiseOp::div:
      if (y == 0) return 0;
      if (kSigned && y == ~std::uint64_t{0}) return 0 - x;
      return static_cast<std::uint64_t>(a / b);
    case ElementwiseOp::min:
      return static_cast<std::uint64_t>(std::min(a, b, less));
    case ElementwiseOp::max:
      return static_cast<std::uint64_t>(std::max(a, b, less));
    case ElementwiseOp::saxpy:
      return static_cast<std::uint64_t>(static_cast<Number>(args.alpha)) * x + y;
    case ElementwiseOp::fma:
      return x * y + z;
    case ElementwiseOp::where:
      return x != 0 ? y : z;
    default:
      return x;
  }
}

// The place in a tensor of this shape of element i of `whole`, row-major, broadcast.
struct Place {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> steps;

  Place(const Extents& whole, const Extents& shape) {
    const Extents own = contiguous_strides(shape);
    for (int d = 0; d < whole.rank(); ++d) {
      const int at = d - (whole.rank() - shape.rank());
      extents.push_back(whole[d]);
      steps.push_back(at < 0 || shape[at] == 1 ? 0 : own[at]);
    }
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    std::int64_t place = 0;
    for (std::size_t d = extents.size(); d-- > 0; i /= extents[d]) place += i % extents[d] * steps[d];
    return place;
  }
};

// Half a unit in the last place of out's dtype.
long double rounding_of(DType dtype, long double value) {
  const auto half_unit = [&](int bits, int least) {
    const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
    return std::ldexp(0.5L, exponent - bits);
  };
  switch (dtype) {
    case DType::f64:
      return half_unit(52, -1022);
    case DType::f32:
      return half_unit(23, -126);
    case DType::f16:
      return half_unit(10, -14);
    case DType::bf16:
      return half_unit(7, -126);
    case DType::f8e4m3:
      return half_unit(3, -6);
    case DType::f8e5m2:
      return half_unit(2, -14);
    default:
      return 0;
  }
}

// The value rounded once to a float dtype, as a double.
double rounded(DType dtype, long double value) {
  constexpr int kBits = 40;  // more than any float below f64 has, fewer than make a second rounding matter
  if (dtype == DType::f64) return static_cast<double>(value);
  if (dtype == DType::f32) return static_cast<float>(value);
  double wide = static_cast<double>(value);
  if (std::isfinite(value) && static_cast<long double>(wide) != value) {
    // To odd: a second rounding sees that something was cut off.
    int exponent = 0;
    const long double fraction = std::ldexp(std::frexp(value, &exponent), kBits);
    long double cut = std::trunc(fraction);
    if (std::fmod(cut, 2.0L) == 0) cut += value < 0 ? -1 : 1;
    wide = static_cast<double>(std::ldexp(cut, exponent - kBits));
  }
  switch (dtype) {
    case DType::f16:
      return to_float(to_float16(wide));
    case DType::bf16:
      return to_float(to_bfloat16(wide));
    case DType::f8e4m3:
      return to_float(to_float8_e4m3(wide));
    default:
      return to_float(to_float8_e5m2(wide));
  }
}

// The float as an integer dtype has it.
template <class T>
std::uint64_t clamped(long double value) {
  if (std::isnan(value)) return 0;
  const long double low = std::numeric_limits<T>::min();
  const long double high = std::numeric_limits<T>::max();
  return static_cast<std::uint64_t>(static_cast<T>(std::trunc(std::min(std::max(value, low), high))));
}
std::uint64_t as_integer(DType dtype, long double value) {
  switch (dtype) {
    case DType::i8:
      return clamped<std::int8_t>(value);
    case DType::i16:
      return clamped<std::int16_t>(value);
    case DType::i32:
      return clamped<std::int32_t>(value);
    case DType::i64:
      return clamped<std::int64_t>(value);
    case DType::u8:
      return clamped<std::uint8_t>(value);
    case DType::u16:
      return clamped<std::uint16_t>(value);
    case DType::u32:
      return clamped<std::uint32_t>(value);
    default:
      return clamped<std::uint64_t>(value);
  }
}

// Everything that an element's evaluation asks for.
struct Problem {
  ElementwiseArgs args;
  DType out = DType::f32;
  Compute compute = Compute::f32;
  std::span<const HostTensor> inputs;
  std::vector<Place> places{};

  template <class T, class Read, class Apply>
  T evaluate(std::int64_t i, Read read, Apply apply_one) const {
    std::size_t next = 0;
    const auto load_next = [&] {
      const T value = read(inputs[next], places[next](i));
      ++next;
      return value;
    };
    T value = load_next();
    for (const ElementwiseOp op : args.op) {
      std::array<T, 3> arguments{value};
      for (int k = 1; k < elementwise_arguments(op); ++k)
        arguments[static_cast<std::size_t>(k)] = load_next();
      value = apply_one(op, args, arguments);
    }
    return value;
  }

  template <class Acc>
  [[nodiscard]] Known real(std::int64_t i) const {
    return evaluate<Known>(
        i,
        [](const HostTensor& tensor, std::int64_t at) {
          return Known{static_cast<Acc>(tensor.at(at)), 0};
        },
        apply<Acc>);
  }
  [[nodiscard]] Known real_at(std::int64_t i) const {
    return compute == Compute::f32 ? real<float>(i) : real<double>(i);
  }
  [[nodiscard]] std::uint64_t integer_of(std::int64_t i) const {
    return evaluate<std::uint64_t>(
        i, integer_at, compute == Compute::i64 ? integer_function<true> : integer_function<false>);
  }
  [[nodiscard]] bool computes_integers() const { return compute == Compute::i64 || compute == Compute::u64; }
};

// Element `element` of out, at place i of what is expected.
void set_expected(const Problem& p, std::int64_t element, std::int64_t i, Expected& expected) {
  if (p.computes_integers()) {
    const std::uint64_t bits = p.integer_of(element);
    if (!is_float(p.out)) return set_integer(expected.exact, i, bits);
    const long double value = p.compute == Compute::i64
                                  ? static_cast<long double>(static_cast<std::int64_t>(bits))
                                  : static_cast<long double>(bits);
    return expected.exact.set(i, rounded(p.out, value));
  }
  const Known known = p.real_at(element);
  if (!is_float(p.out)) return set_integer(expected.exact, i, as_integer(p.out, known.value));
  if (known.error == 0 || !std::isfinite(known.value)) {
    expected.exact.set(i, rounded(p.out, known.value));
    return;
  }
  expected.exact.set(i, static_cast<double>(known.value));
  // An f64 result is compared with a double, which is half a unit off itself.
  const long double extra = rounding_of(p.out, std::fabs(known.value) + known.error);
  expected.floors.set(i, static_cast<double>((known.error + extra) * 1.001L));
}

}  // namespace

ElementwiseArgs elementwise_args(const Case& c, std::span<const HostTensor> inputs) {
  ElementwiseArgs args;
  args.op = detail::ParamCodec<ElementwiseChain>::decode(c.params.at("op"));
  args.alpha = c.params.get_double("alpha");
  args.low = c.params.get_double("low");
  args.high = c.params.get_double("high");
  args.out_dtype = c.params.get_optional_dtype("out_dtype");
  if (inputs.empty()) return args;
  args.a = inputs[0].view();
  const int needed = elementwise_program::inputs_needed(args.op);
  if (needed > 1) args.b = inputs[1].view();
  if (needed > 2) args.c = inputs[2].view();
  return args;
}

Result<std::vector<Expected>> elementwise_reference(const Case& c, std::span<const HostTensor> inputs) {
  Problem p;
  p.args = elementwise_args(c, inputs);
  p.inputs = inputs;
  p.out = p.args.out_dtype.value_or(elementwise_program::natural_dtype(p.args));
  p.compute = elementwise_program::compute_of(p.args, p.out);
  Extents shape = p.args.a.shape;
  const auto needed = static_cast<std::size_t>(elementwise_program::inputs_needed(p.args.op));
  for (const HostTensor& input : inputs.first(needed)) {
    if (!elementwise_layout::broadcast(shape, input.shape()))
      return internal_error("the case's shapes do not fit");
  }
  for (const HostTensor& input : inputs.first(needed)) p.places.emplace_back(shape, input.shape());

  std::vector<Expected> outputs(1);
  Expected& expected = outputs[0];
  expected.factor = 0;
  expected.rule =
      "functions off by some units in the last place, carried through what follows (elementwise_ref.cpp)";
  ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(shape));
  constexpr std::int64_t kAll = std::int64_t{1} << 25;
  if (numel > kAll) expected.indices = sampled_indices(numel, c.seed);
  const std::int64_t count = numel > kAll ? std::ssize(expected.indices) : numel;
  const Extents places = numel > kAll ? Extents{count} : shape;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(is_float(p.out) ? DType::f64 : p.out, places));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, places));
  in_parallel(count, 1 << 12, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      expected.floors.set(i, 0);
      set_expected(p, numel > kAll ? expected.indices[static_cast<std::size_t>(i)] : i, i, expected);
    }
  });
  return outputs;
}

}  // namespace rooftile
