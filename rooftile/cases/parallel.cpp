#include "rooftile/cases/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace rooftile {

void in_parallel(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body) {
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(grain, 1));
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, least),
                    [&](const auto& range) { body(range.begin(), range.end()); });
}

}  // namespace rooftile
