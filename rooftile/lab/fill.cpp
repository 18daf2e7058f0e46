#include "rooftile/lab/fill.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "rooftile/core/philox.h"

namespace rooftile::lab {
namespace {

// Elements that one task draws; a multiple of every group size.
constexpr std::int64_t kGrain = 1 << 16;

struct FloatLimits {
  double largest;
  double smallest_denormal;
  bool has_infinity;
};

FloatLimits float_limits(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(), true};
    case DType::f32:
      return {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), true};
    case DType::f16:
      return {65504.0, 0x1p-24, true};
    case DType::bf16:
      return {0x1.FEp127, 0x1p-133, true};
    case DType::f8e4m3:
      return {448.0, 0x1p-9, false};
    default:
      return {57344.0, 0x1p-16, true};  // f8e5m2
  }
}

struct IntegerRange {
  std::int64_t low;
  std::int64_t high;
};

IntegerRange uniform_range(DType dtype) {
  if (dtype == DType::i8) return {-128, 127};
  if (dtype == DType::u8) return {0, 255};
  return is_signed(dtype) ? IntegerRange{-1000, 1000} : IntegerRange{0, 1000};
}

// A uniform integer of [low, high], by multiplication: the bias is below (high - low) / 2^32.
std::int64_t in_range(std::uint32_t word, IntegerRange range) {
  const auto span = static_cast<std::uint64_t>(range.high - range.low + 1);
  return range.low + static_cast<std::int64_t>((std::uint64_t{word} * span) >> 32);
}

// Bits 4 to 6 of a word choose the special value; bits 0 to 3 have chosen the element, and the uniform value
// uses bits 8 and up alone.
double special_float(std::uint32_t word, DType dtype) {
  const FloatLimits limits = float_limits(dtype);
  const double infinity = limits.has_infinity ? std::numeric_limits<double>::infinity() : limits.largest;
  const std::array<double, 8> values = {
      infinity,       -infinity,      0.0, -0.0, limits.smallest_denormal, -limits.smallest_denormal,
      limits.largest, -limits.largest};
  return values[word >> 4 & 7u];
}
bool is_special(std::uint32_t word) { return (word & 15u) == 0; }

// f64 takes two words per element: 24-bit values would add up exactly and hide a wrong accumulation.
double uniform_float(std::uint32_t high, std::uint32_t low, bool wide) {
  double unit = philox_unit_float(high);
  if (wide) unit += static_cast<double>(low) * 0x1p-56;
  return 2.0 * unit - 1.0;
}

template <class T>
T draw_integer(std::uint32_t word, DType dtype, Fill fill) {
  if (fill == Fill::small_integers) {
    return static_cast<T>(in_range(word, is_signed(dtype) ? IntegerRange{-8, 8} : IntegerRange{0, 8}));
  }
  if (fill == Fill::special && is_special(word)) {
    const std::array<T, 4> values = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0},
                                     T{1}};
    return values[word >> 4 & 3u];
  }
  return static_cast<T>(in_range(word, uniform_range(dtype)));
}

double draw_float(std::uint32_t word, std::uint32_t low, DType dtype, Fill fill) {
  if (fill == Fill::small_integers) return static_cast<double>(in_range(word, {-8, 8}));
  if (fill == Fill::special && is_special(word)) return special_float(word, dtype);
  return uniform_float(word, low, dtype == DType::f64);
}

// Calls store(element, word, low_word) for every element, in parallel.
template <class Store>
void for_each_word(std::int64_t count, int words_per_element, std::uint64_t seed, std::uint64_t tensor_index,
                   Store store) {
  const PhiloxKey key = philox_key(seed);
  const std::int64_t group = 4 / words_per_element;
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, (count + kGrain - 1) / kGrain),
                    [&](const auto& chunks) {
                      for (std::int64_t chunk = chunks.begin(); chunk != chunks.end(); ++chunk) {
                        const std::int64_t last = std::min(count, (chunk + 1) * kGrain);
                        for (std::int64_t first = chunk * kGrain; first < last; first += group) {
                          const auto index = static_cast<std::uint64_t>(first / group);
                          const PhiloxCounter words = philox4x32_10(philox_counter(index, tensor_index), key);
                          const std::array<std::uint32_t, 4> w = {words.x, words.y, words.z, words.w};
                          for (std::int64_t i = 0; i < group && first + i < last; ++i) {
                            const auto at = static_cast<std::size_t>(i * words_per_element);
                            store(first + i, w[at], w[at + static_cast<std::size_t>(words_per_element) - 1]);
                          }
                        }
                      }
                    });
}

template <class T>
void fill_integers(HostTensor& tensor, Fill fill, std::uint64_t seed, std::uint64_t tensor_index) {
  const std::span<T> elements = tensor.as<T>();
  const DType dtype = tensor.dtype();
  for_each_word(tensor.numel(), 1, seed, tensor_index,
                [&](std::int64_t i, std::uint32_t word, std::uint32_t) {
                  elements[static_cast<std::size_t>(i)] = draw_integer<T>(word, dtype, fill);
                });
}

void fill_floats(HostTensor& tensor, Fill fill, std::uint64_t seed, std::uint64_t tensor_index) {
  const DType dtype = tensor.dtype();
  const int words = dtype == DType::f64 ? 2 : 1;
  if (dtype == DType::f32) {
    const std::span<float> elements = tensor.as<float>();
    for_each_word(tensor.numel(), words, seed, tensor_index,
                  [&](std::int64_t i, std::uint32_t high, std::uint32_t low) {
                    elements[static_cast<std::size_t>(i)] =
                        static_cast<float>(draw_float(high, low, DType::f32, fill));
                  });
  } else {
    for_each_word(tensor.numel(), words, seed, tensor_index,
                  [&](std::int64_t i, std::uint32_t high, std::uint32_t low) {
                    tensor.set(i, draw_float(high, low, dtype, fill));
                  });
  }
  if (fill == Fill::nan_at_last && tensor.numel() > 0) {
    tensor.set(tensor.numel() - 1, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace

void fill_tensor(HostTensor& tensor, Fill fill, std::uint64_t seed, std::uint64_t tensor_index) {
  switch (tensor.dtype()) {
    case DType::i8:
      return fill_integers<std::int8_t>(tensor, fill, seed, tensor_index);
    case DType::i16:
      return fill_integers<std::int16_t>(tensor, fill, seed, tensor_index);
    case DType::i32:
      return fill_integers<std::int32_t>(tensor, fill, seed, tensor_index);
    case DType::i64:
      return fill_integers<std::int64_t>(tensor, fill, seed, tensor_index);
    case DType::u8:
      return fill_integers<std::uint8_t>(tensor, fill, seed, tensor_index);
    case DType::u16:
      return fill_integers<std::uint16_t>(tensor, fill, seed, tensor_index);
    case DType::u32:
      return fill_integers<std::uint32_t>(tensor, fill, seed, tensor_index);
    case DType::u64:
      return fill_integers<std::uint64_t>(tensor, fill, seed, tensor_index);
    default:
      return fill_floats(tensor, fill, seed, tensor_index);
  }
}

}  // namespace rooftile::lab
