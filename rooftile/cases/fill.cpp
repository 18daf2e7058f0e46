#include "rooftile/cases/fill.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/cases/fill_draw.h"

namespace rooftile {
namespace {

constexpr std::int64_t kGrain = 1 << 14;    // groups that one task draws
constexpr std::int64_t kSpotChecks = 1024;  // groups

}  // namespace

void fill_tensor(HostTensor& tensor, Fill fill, std::uint64_t seed, std::uint64_t tensor_index) {
  for_storage_type(tensor.dtype(), [&](auto tag) {
    using T = decltype(tag);
    auto* elements = static_cast<T*>(tensor.data());
    const std::int64_t count = tensor.numel();
    const std::int64_t groups = (count + kElementsPerGroup<T> - 1) / kElementsPerGroup<T>;
    const PhiloxKey key = philox_key(seed);
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, groups, kGrain), [&](const auto& range) {
      for (std::int64_t group = range.begin(); group != range.end(); ++group) {
        draw_group(elements + group * kElementsPerGroup<T>, count, group, fill, key, tensor_index);
      }
    });
  });
}

std::int64_t first_wrong_draw(const HostTensor& tensor, Fill fill, std::uint64_t seed,
                              std::uint64_t tensor_index) {
  return for_storage_type(tensor.dtype(), [&](auto tag) -> std::int64_t {
    using T = decltype(tag);
    constexpr std::int64_t kSize = kElementsPerGroup<T>;
    const auto* elements = static_cast<const T*>(tensor.data());
    const std::int64_t count = tensor.numel();
    const std::int64_t groups = (count + kSize - 1) / kSize;
    const PhiloxKey key = philox_key(seed);
    for (std::int64_t i = 0; i < std::min(groups, kSpotChecks); ++i) {
      // The first, the last, and some between.
      const std::int64_t group = i == 0 ? 0 : (groups - 1) * i / (std::min(groups, kSpotChecks) - 1);
      std::array<T, kSize> drawn{};
      draw_group(drawn.data(), count, group, fill, key, tensor_index);
      for (std::int64_t j = 0; j < kSize && group * kSize + j < count; ++j) {
        // Bits are meant: NaNs and signs of zeros, too.
        const void* const wanted = &drawn[static_cast<std::size_t>(j)];
        const void* const got = elements + group * kSize + j;
        if (std::memcmp(wanted, got, sizeof(T)) != 0) return group * kSize + j;
      }
    }
    return -1;
  });
}

}  // namespace rooftile
