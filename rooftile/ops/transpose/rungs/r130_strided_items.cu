// Any strides.
//
// Idea       a thread per item computes both addresses from the item's number, m fastest: where out has rows,
//            stores are coalesced.
// Change     serves what no other rung does: items that are not neighbours, or not aligned to their size; in
//            place, the thread of the upper item of a pair exchanges both.
// Limits     none.
// Bottleneck sectors of which one item is used.
#include <algorithm>

#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kBlock = 256;

struct Strided {
  Matrices a;
  std::int64_t in_column;
  std::int64_t out_column;
  int units;  // of an item
  bool in_place;
};

// Items are moved by units of kUnitBytes, to which every address is aligned.
template <int kUnitBytes>
__global__ void __launch_bounds__(kBlock) strided_items_kernel(Strided call, std::int64_t items) {
  const Matrices& a = call.a;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kBlock;
  for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
       item < items; item += stride) {
    const std::int64_t i = item % a.m;
    const std::int64_t j = item / a.m % a.n;
    if (call.in_place && i >= j) continue;
    const MatrixPair pair = matrix_pair(a.in, a.out, a.batch, item / a.m / a.n);
    const char* g_from = pair.in + i * a.in_row + j * call.in_column;
    char* g_to = pair.out + j * a.out_row + i * call.out_column;
    // In place: the item's own place, which takes what was at g_to.
    char* g_back = pair.out + i * a.out_row + j * call.out_column;
    for (int u = 0; u < call.units; ++u) {
      const Access<kUnitBytes> r_upper = load_bytes<kUnitBytes>(g_from + u * kUnitBytes);
      if (call.in_place)
        store_bytes<kUnitBytes>(g_back + u * kUnitBytes, load_bytes<kUnitBytes>(g_to + u * kUnitBytes));
      store_bytes<kUnitBytes>(g_to + u * kUnitBytes, r_upper);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  const auto unit = static_cast<int>(size_of(call.args.in.dtype));
  const Strided strided{matrices(call.args, g), g.in_column, g.out_column, g.item_bytes / unit, g.in_place};
  const std::int64_t resident = std::int64_t{call.device.multiprocessors} * 32;
  const std::int64_t blocks = std::min(transpose_plan::ceil_div(g.items(), kBlock), resident);
  return dispatch_item(unit, [&]<int kUnitBytes>() -> Status {
    return launch(strided_items_kernel<kUnitBytes>,
                  {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = call.stream},
                  strided, g.items());
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
