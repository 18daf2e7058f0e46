// How the rungs of softmax_backward cut a call: rows, and who has which part of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/row_cut.h"
#include "rooftile/core/rows.h"
#include "rooftile/ops/softmax_backward/softmax_backward.h"

namespace rooftile::softmax_backward_plan {

// Places of the tensors in Rows.
inline constexpr std::size_t kY = 0;
inline constexpr std::size_t kDy = 1;
inline constexpr std::size_t kDx = 2;
inline constexpr std::size_t kTensors = 3;

inline constexpr int kLessonBlock = 128;
inline constexpr int kWarpRowsBlock = 256;
inline constexpr int kBlockRowThreads = 512;

// Longer chains of f32 sums are not exact enough.
inline constexpr std::int64_t kLongestThreadRow = 16384;
inline constexpr std::int64_t kLongestWarpRow = kLongestThreadRow * 32;

// Four vectors of either row for each thread: as many bytes on their way as softmax's eight.
inline constexpr std::array<RowShape, 13> kRowShapes = {{{1, 1},
                                                         {2, 1},
                                                         {4, 1},
                                                         {8, 1},
                                                         {16, 1},
                                                         {32, 1},
                                                         {32, 2},
                                                         {64, 2},
                                                         {64, 3},
                                                         {64, 4},
                                                         {128, 4},
                                                         {256, 4},
                                                         {512, 4}}};
inline constexpr int kVectorizedBlock = 128;  // threads, where rows have a warp at most
// cluster: threads of a block, and vectors that each has. Rows have a vector for every block, wherever they begin.
inline constexpr std::array<RowShape, 2> kClusterShapes = {{{256, 4}, {512, 4}}};
inline constexpr std::int64_t kShortestClusterRow = 1024;  // bytes

struct Cut {
  Rows<kTensors> rows{};
  int shape = 0;  // vectorized: which of kRowShapes; cluster: of kClusterShapes
  ClusterCut cluster{};
};

inline Rows<kTensors> geometry(const SoftmaxBackwardArgs& args) {
  return rows_of<kTensors>({args.y, args.dy, args.dx});
}

inline std::int64_t vectors_of(const SoftmaxBackwardArgs& args, const Rows<kTensors>& rows) {
  return covering_vectors(args.y, rows.tensors[kY], rows.length);
}
inline ClusterCut cluster_of(const SoftmaxBackwardArgs& args, const Rows<kTensors>& rows,
                             const DeviceProperties& device) {
  return cluster_for(kClusterShapes, rows.count, vectors_of(args, rows), device);
}

}  // namespace rooftile::softmax_backward_plan
