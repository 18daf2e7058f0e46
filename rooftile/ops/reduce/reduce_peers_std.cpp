// std::reduce of the C++ library as a peer of reduce on the CPU: one thread.
#include <numeric>

#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce_peers_host.h"

namespace rooftile {
namespace {

Status reduce_by_std(const Call<ReduceArgs>& call) {
  return reduce_peers::reduce_all(call.args,
                                  [](const auto* begin, const auto* end, auto init, auto operation) {
                                    return std::reduce(begin, end, init, operation);
                                  });
}

}  // namespace

void register_reduce_peers_std(Registry& registry) {
  registry.add(reduce_peers::peer("std", "std::reduce, one thread", reduce_by_std));
}

}  // namespace rooftile
