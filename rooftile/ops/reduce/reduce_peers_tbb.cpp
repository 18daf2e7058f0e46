// oneTBB's parallel_reduce as a peer of reduce on the CPU, std::reduce over the elements of each range.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/version.h>

#include <numeric>

#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce_peers_host.h"

namespace rooftile {
namespace {

constexpr std::size_t kGrain = 1 << 14;  // elements that are worth a task

template <class T, class Value, class Combine>
Value parallel(const T* begin, const T* end, Value init, Value identity, const Combine& combine) {
  const Value rest = tbb::parallel_reduce(
      tbb::blocked_range<const T*>(begin, end, kGrain), identity,
      [&](const auto& range, Value value) { return std::reduce(range.begin(), range.end(), value, combine); },
      combine);
  return combine(init, rest);
}

Status reduce_by_tbb(const Call<ReduceArgs>& call) {
  // The identity of a maximum is any of its elements, that of a sum 0: the start is both.
  return reduce_peers::reduce_all(call.args,
                                  [](const auto* begin, const auto* end, auto init, auto operation) {
                                    return parallel(begin, end, init, init, operation);
                                  });
}

}  // namespace

void register_reduce_peers_tbb(Registry& registry) {
  registry.add(reduce_peers::peer("tbb", "oneTBB " TBB_VERSION_STRING " parallel_reduce", reduce_by_tbb));
}

}  // namespace rooftile
