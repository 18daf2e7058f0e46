#include "rooftile/lab/case/fill.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/lab/case/fill_draw.h"

namespace rooftile::lab {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // groups that one task draws

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
        draw_group(elements, count, group, fill, key, tensor_index);
      }
    });
  });
}

}  // namespace rooftile::lab
