// How the CPU rungs read elements that do not lie side by side.
#include <algorithm>
#include <cstring>

#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::cpu::reduce_rungs {
namespace {

template <std::size_t kBytes>
void gather_elements(std::byte* to, const std::byte* from, const Dimensions& dimensions, std::int64_t first,
                     std::int64_t count) {
  const auto bytes = static_cast<std::int64_t>(kBytes);
  // Along the innermost dimension a constant stride, as far as it goes.
  const int inner = dimensions.rank - 1;
  const std::int64_t extent = inner < 0 ? 1 : dimensions.extents[static_cast<std::size_t>(inner)];
  const std::int64_t stride = inner < 0 ? 0 : dimensions.strides[static_cast<std::size_t>(inner)];
  for (std::int64_t i = first; i < first + count;) {
    const std::byte* line = from + dimensions.offset(i) * bytes;
    const std::int64_t run = std::min(first + count - i, extent - i % extent);
    for (std::int64_t j = 0; j < run; ++j, to += kBytes) std::memcpy(to, line + j * stride * bytes, kBytes);
    i += run;
  }
}

}  // namespace

void gather(void* to, const void* from, std::size_t element_bytes, const Dimensions& dimensions,
            std::int64_t first, std::int64_t count) {
  auto* const t = static_cast<std::byte*>(to);
  const auto* const f = static_cast<const std::byte*>(from);
  switch (element_bytes) {
    case 1:
      return gather_elements<1>(t, f, dimensions, first, count);
    case 2:
      return gather_elements<2>(t, f, dimensions, first, count);
    case 4:
      return gather_elements<4>(t, f, dimensions, first, count);
    default:
      return gather_elements<8>(t, f, dimensions, first, count);
  }
}

}  // namespace rooftile::cpu::reduce_rungs
