#include "rooftile/sim/checked/proxy_fences.h"

#include <algorithm>

namespace rooftile::simt::checked {

void ProxyFences::clear() {
  const std::scoped_lock lock(mutex_);
  fences_.clear();
}

void ProxyFences::add(Thread thread, Stamp time) {
  const std::scoped_lock lock(mutex_);
  fences_[thread].push_back(time);
}

Stamp ProxyFences::after(Thread thread, Stamp stamp) const {
  const std::scoped_lock lock(mutex_);
  const auto fences = fences_.find(thread);
  if (fences == fences_.end()) return 0;
  const auto first = std::upper_bound(fences->second.begin(), fences->second.end(), stamp);
  return first == fences->second.end() ? 0 : *first;
}

}  // namespace rooftile::simt::checked
