#include "rooftile/cases/elements.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rooftile {

std::uint64_t element_bits(const HostTensor& tensor, std::int64_t i) {
  const std::size_t size = size_of(tensor.dtype());
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * size, size);
  return bits;
}

std::uint64_t order_bits(const HostTensor& tensor, std::int64_t i) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (tensor.dtype() == DType::u64) return element_bits(tensor, i);
  if (tensor.dtype() == DType::i64) return element_bits(tensor, i) ^ kSign;
  const double value = tensor.at(i);
  if (!is_float(tensor.dtype())) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ kSign;
  if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace rooftile
