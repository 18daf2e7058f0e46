// A row read once.
//
// Idea       a row's elements stay in the registers of its threads between the sum and the results.
// Change     half of the loads; all of a thread's are on their way at once.
// Limits     rows of at most 16384 elements.
// Bottleneck loads and stores of single elements: 2 or 4 bytes for each instruction of the way there.
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

constexpr int kOwn = softmax_plan::kOwnElements;

template <class T, int kThreads>
__global__ void __launch_bounds__(kThreads < 128 ? 128 : kThreads) registers_kernel(Operands<T> call) {
  using Threads = RowThreads<kThreads>;
  constexpr int kRows = (kThreads < 128 ? 128 : kThreads) / kThreads;
  __shared__ Stats s_stats[Threads::kWarps];
  const std::int64_t r = std::int64_t{blockIdx.x} * kRows + Threads::row();
  const std::int64_t length =
      r < call.places.rows.count ? call.places.rows.length : 0;  // behind the last row there is none
  const RowElements<T> row(call, smaller(r, call.places.rows.count - 1));
  Vec<float, kOwn> values;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int j = Threads::index() + i * kThreads;
    values[i] = j < length ? row.value(j) : kNegativeInfinity;
  }
  Stats stats = kNone;
  call.exponentials.add(stats, values);
  stats = Threads::all_reduce(stats, kNone, s_stats, [&](auto lanes, const Stats& own) {
    return call.exponentials.over_lanes(lanes, own);
  });
  const Results results = call.results(stats);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int j = Threads::index() + i * kThreads;
    if (j < length) row.store(j, results.log ? results.of<true>(values[i]) : results.of<false>(values[i]));
  }
}

template <class T, std::size_t kShape = 0>
Status launch_shape(const Call<SoftmaxArgs>& call) {
  constexpr int kThreads = softmax_plan::kElementThreads[kShape];
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  if (call.config<Cut>().shape == static_cast<int>(kShape))
    return launch_rows<T>(call, registers_kernel<T, kThreads>, kBlock, kBlock / kThreads);
  if constexpr (kShape + 1 < softmax_plan::kElementThreads.size()) return launch_shape<T, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() { return launch_shape<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
