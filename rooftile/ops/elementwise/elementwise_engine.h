// The kernel that visits tensors element by element, whatever is computed: packs are read, handed to a body, and written.
//
// A body says how many tensors it reads at most (kInputs), how many elements a pack has (kPack), which bytes an element of
// each tensor has (size(o), the inputs, then the output; 0: known at run time alone), and how many blocks should be
// resident at once (kResidentBlocks). It computes the packs of a thread, and, where it knows its types (kTyped), one element:
//
//   template <int kUnroll>
//   __device__ void compute(const RawPack (&in)[kInputs][kUnroll], RawPack (&out)[kUnroll]) const;
//   __device__ void compute_one(const char* const (&g_in)[kInputs], char* g_out) const;
//
// All packs of a thread are read before the first is written, and no other thread touches them: in place is no special case.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/integers.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/device/fast_divide.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/elementwise/elementwise_layout.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_engine {

using elementwise_layout::kMostOperands;
using elementwise_layout::kMostOuter;
using elementwise_layout::Layout;
using elementwise_layout::Operand;

inline constexpr int kThreads = 128;      // of a block, where there are packs enough for all multiprocessors
inline constexpr int kWideThreads = 704;  // of a block of large calls: see threads_for

// A pack of one tensor as it lies in memory, 16 bytes at most.
struct RawPack {
  std::uint32_t words[4];
};

// What the packs of a call ask for.
enum class Reach {
  aligned,       // one row, every pack of every tensor one aligned access
  row,           // one row: pieces by each tensor's alignment, or one element for all
  aligned_rows,  // rows, every pack of every tensor one aligned access, or one element for all of a row
  rows,          // any strides
};
constexpr bool has_rows(Reach reach) { return reach == Reach::aligned_rows || reach == Reach::rows; }

// What the kernel of aligned rows of one looks at: a small call waits for every line of arguments that it reads.
struct AlignedTask {
  const char* data[kMostOperands];  // the inputs; the output behind as many as the body may have
  std::int64_t columns;
  std::int64_t lead;
  bool has_ends;  // elements that no whole pack covers
};

// From the number of a pack to its row, and from that to an index of each outer dimension.
template <class UInt>
struct Divisors {
  FastDivisor<UInt> packs_per_row;
  FastDivisor<UInt> extents[kMostOuter];
};
template <Reach kReach>
using RowIndex = std::conditional_t<kReach == Reach::aligned_rows, std::uint32_t, std::uint64_t>;
inline constexpr std::int64_t kMostNarrowPacks = std::int64_t{1} << 31;

template <class UInt>
Divisors<UInt> divisors_of(const Layout& layout) {
  static_assert(kMostOuter == 7, "a divisor for each outer dimension");
  const FastDivisor<UInt> one(1);
  Divisors<UInt> divisors{FastDivisor<UInt>(static_cast<UInt>(layout.packs_per_row())),
                          {one, one, one, one, one, one, one}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(layout.outer); ++d)
    divisors.extents[d] = FastDivisor<UInt>(static_cast<UInt>(layout.extents[d]));
  return divisors;
}

struct Task {
  const char* data[kMostOperands];  // as AlignedTask
  Operand operands[kMostOperands];
  std::int64_t columns;
  std::int64_t packs;
  int lead;
  int inputs;
  int outer;
  Divisors<std::uint64_t> wide;
  Divisors<std::uint32_t> narrow;  // where there are fewer than 2^31 packs

  template <Reach kReach>
  __device__ __forceinline__ const Divisors<RowIndex<kReach>>& divisors() const {
    if constexpr (kReach == Reach::aligned_rows)
      return narrow;
    else
      return wide;
  }
};

// Piece k of a pack.
template <int kWidth>
__device__ __forceinline__ void set_piece(RawPack& pack, int k, Access<kWidth> piece) {
  if constexpr (kWidth == 16) {
    pack = {{piece.x, piece.y, piece.z, piece.w}};
  } else if constexpr (kWidth == 8) {
    pack.words[2 * k] = piece.x;
    pack.words[2 * k + 1] = piece.y;
  } else if constexpr (kWidth == 4) {
    pack.words[k] = piece;
  } else {
    constexpr int kPerWord = 4 / kWidth;
    const int shift = 8 * kWidth * (k % kPerWord);
    const std::uint32_t word = k % kPerWord == 0 ? 0u : pack.words[k / kPerWord];
    pack.words[k / kPerWord] = word | static_cast<std::uint32_t>(piece) << shift;
  }
}
template <int kWidth>
__device__ __forceinline__ Access<kWidth> get_piece(const RawPack& pack, int k) {
  if constexpr (kWidth == 16) {
    return make_uint4(pack.words[0], pack.words[1], pack.words[2], pack.words[3]);
  } else if constexpr (kWidth == 8) {
    return make_uint2(pack.words[2 * k], pack.words[2 * k + 1]);
  } else if constexpr (kWidth == 4) {
    return pack.words[k];
  } else {
    constexpr int kPerWord = 4 / kWidth;
    return static_cast<Access<kWidth>>(pack.words[k / kPerWord] >> 8 * kWidth * (k % kPerWord));
  }
}

// Pieces [first, last) of kWidth bytes, `pitch` bytes apart. Those in front of `first` are 0.
template <int kWidth>
__device__ __forceinline__ void load_pieces(RawPack& pack, const char* g_pack, std::int64_t pitch, int first,
                                            int last) {
#pragma unroll
  for (int k = 0; k < 16 / kWidth; ++k) {
    Access<kWidth> piece{};
    if (k >= first && k < last) piece = load_bytes<kWidth>(g_pack + k * pitch);
    set_piece<kWidth>(pack, k, piece);
  }
}
template <int kWidth>
__device__ __forceinline__ void store_pieces(const RawPack& pack, char* g_pack, std::int64_t pitch, int first,
                                             int last) {
#pragma unroll
  for (int k = 0; k < 16 / kWidth; ++k) {
    if (k >= first && k < last) store_bytes<kWidth>(g_pack + k * pitch, get_piece<kWidth>(pack, k));
  }
}

// Calls body.operator()<kWidth>(): a branch that all threads take alike. Widths below kLeast and above kMost there are not.
template <int kLeast, int kMost, class Body>
__device__ __forceinline__ void with_width(int width, const Body& body) {
  const auto try_width = [&]<int kWidth>() {
    if constexpr (kWidth >= kLeast && kWidth <= kMost) body.template operator()<kWidth>();
  };
  switch (width) {
    case 16:
      return try_width.template operator()<16>();
    case 8:
      return try_width.template operator()<8>();
    case 4:
      return try_width.template operator()<4>();
    case 2:
      return try_width.template operator()<2>();
    default:
      return try_width.template operator()<1>();
  }
}
// The same for the size of an element: kSize, or, where that is 0, what is known at run time alone.
template <int kSize, class Body>
__device__ __forceinline__ void with_size(int size, const Body& body) {
  if constexpr (kSize > 0)
    body.template operator()<kSize>();
  else
    with_width<1, 8>(size, body);
}

// One element for all of a pack.
template <int kSize>
__device__ __forceinline__ void repeat_element(RawPack& pack, const char* g_element, int size) {
  with_size<kSize>(size, [&]<int kWidth>() {
    const Access<kWidth> element = load_bytes<kWidth>(g_element);
#pragma unroll
    for (int k = 0; k < 16 / kWidth; ++k) set_piece<kWidth>(pack, k, element);
  });
}

// How wide the pieces of a pack may be: from an element to the pack, where they are known.
template <int kPack, int kSize, class Body>
__device__ __forceinline__ void with_pieces(int width, const Body& body) {
  if constexpr (kSize > 0)
    with_width<kSize, kPack * kSize>(width, body);
  else
    with_width<1, 16>(width, body);
}

// A pack of which every element is there; ordinary loads and stores: those that stream, or leave L1 alone, take up to a
// tenth longer where two tensors are read and one is written (README.md).
template <Reach kReach, int kPack, int kSize>
__device__ __forceinline__ void load_whole(const Operand& operand, const char* g_pack, RawPack& pack) {
  if (operand.element_step == 0) {
    repeat_element<kSize>(pack, g_pack, operand.size);
  } else if constexpr (kReach == Reach::aligned_rows) {
    set_piece<kPack * kSize>(pack, 0, load_bytes<kPack * kSize>(g_pack));
  } else {
    with_pieces<kPack, kSize>(operand.width, [&]<int kWidth>() {
      load_pieces<kWidth>(pack, g_pack, operand.pitch, 0, kPack * operand.size / kWidth);
    });
  }
}
template <Reach kReach, int kPack, int kSize>
__device__ __forceinline__ void store_whole(const Operand& operand, char* g_pack, const RawPack& pack) {
  if constexpr (kReach == Reach::aligned_rows) {
    store_bytes<kPack * kSize>(g_pack, get_piece<kPack * kSize>(pack, 0));
  } else {
    with_pieces<kPack, kSize>(operand.width, [&]<int kWidth>() {
      store_pieces<kWidth>(pack, g_pack, operand.pitch, 0, kPack * operand.size / kWidth);
    });
  }
}

// A pack of which a part is there: element by element.
__device__ __forceinline__ void load_part(const Operand& operand, const char* g_pack, int first, int last,
                                          RawPack& pack) {
  if (operand.element_step == 0) return repeat_element<0>(pack, g_pack, operand.size);
  with_width<1, 8>(operand.size, [&]<int kWidth>() {
    load_pieces<kWidth>(pack, g_pack, operand.element_step, first, last);
  });
}
__device__ __forceinline__ void store_part(const Operand& operand, char* g_pack, int first, int last,
                                           const RawPack& pack) {
  with_width<1, 8>(operand.size, [&]<int kWidth>() {
    store_pieces<kWidth>(pack, g_pack, operand.element_step, first, last);
  });
}

// Where a pack lies in each tensor, in bytes, and which of its elements there are.
template <int kTensors>
struct Place {
  std::int64_t offsets[kTensors];
  int first = 0;
  int last = 0;  // 0: none
};

template <Reach kReach, class Body>
__device__ __forceinline__ Place<Body::kInputs + 1> place_of(const Task& task, std::int64_t pack) {
  constexpr int kTensors = Body::kInputs + 1;
  using Index = RowIndex<kReach>;
  Place<kTensors> place;
  Index row = 0;
  std::int64_t in_row = pack;
  if constexpr (has_rows(kReach)) {
    const auto parts = task.divisors<kReach>().packs_per_row.divide_with_remainder(static_cast<Index>(pack));
    row = parts.quotient;
    in_row = static_cast<std::int64_t>(parts.remainder);
  }
  const std::int64_t column = in_row * Body::kPack - task.lead;
  const std::int64_t left = task.columns - column;
  place.first = column < 0 ? static_cast<int>(-column) : 0;
  place.last = left < Body::kPack ? static_cast<int>(left) : Body::kPack;
  if (pack >= task.packs || place.first >= Body::kPack) place.last = 0;
#pragma unroll
  for (int o = 0; o < kTensors; ++o) place.offsets[o] = column * task.operands[o].element_step;
  if constexpr (has_rows(kReach)) {
#pragma unroll
    for (int d = kMostOuter - 1; d >= 0; --d) {
      if (d >= task.outer) continue;
      Index index = row;  // of the outermost dimension all that is left
      if (d > 0) {
        const auto parts = task.divisors<kReach>().extents[d].divide_with_remainder(row);
        row = parts.quotient;
        index = parts.remainder;
      }
#pragma unroll
      for (int o = 0; o < kTensors; ++o)
        place.offsets[o] += static_cast<std::int64_t>(index) * task.operands[o].outer_steps[d];
    }
  }
  return place;
}

// The inputs of one pack, one tensor after the other, so that sizes are constants.
template <class Body, Reach kReach, int kUnroll, int kInput = 0>
__device__ __forceinline__ void load_whole_inputs(const Task& task, const std::int64_t* offsets, int u,
                                                  RawPack (&in)[Body::kInputs][kUnroll]) {
  if (Body::kTyped || kInput < task.inputs) {
    load_whole<kReach, Body::kPack, Body::size(kInput)>(task.operands[kInput],
                                                        task.data[kInput] + offsets[kInput], in[kInput][u]);
  }
  if constexpr (kInput + 1 < Body::kInputs)
    load_whole_inputs<Body, kReach, kUnroll, kInput + 1>(task, offsets, u, in);
}

// Packs of which every element is there; offsets(u) says where pack u lies.
template <class Body, Reach kReach, int kUnroll, class Offsets>
__device__ __forceinline__ void visit_whole(const Task& task, const Body& body, const Offsets& offsets) {
  constexpr int kInputs = Body::kInputs;
  RawPack in[kInputs][kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const auto at = offsets(u);
    load_whole_inputs<Body, kReach>(task, at.offsets, u, in);
  }
  RawPack out[kUnroll];
  body.template compute<kUnroll>(in, out);
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const auto at = offsets(u);
    store_whole<kReach, Body::kPack, Body::size(kInputs)>(
        task.operands[kInputs], const_cast<char*>(task.data[kInputs]) + at.offsets[kInputs], out[u]);
  }
}

// What there is of a pack, by a body that knows its types.
template <Reach kReach, class Body>
__device__ __forceinline__ void visit_typed(const Task& task, const Body& body, std::int64_t pack) {
  constexpr int kInputs = Body::kInputs;
  const Place<kInputs + 1> place = place_of<kReach, Body>(task, pack);
  if constexpr (has_rows(kReach)) {
    if (place.last == Body::kPack)
      return visit_whole<Body, kReach, 1>(task, body, [&](int) { return place; });
  }
#pragma unroll 1
  for (int j = place.first; j < place.last; ++j) {
    const char* g_in[kInputs];
#pragma unroll
    for (int o = 0; o < kInputs; ++o)
      g_in[o] = task.data[o] + place.offsets[o] + j * task.operands[o].element_step;
    body.compute_one(g_in, const_cast<char*>(task.data[kInputs]) + place.offsets[kInputs] +
                               j * task.operands[kInputs].element_step);
  }
}

// Packs of which a part may be missing, by a body that computes whole ones alone; so long is its code that it stands there
// once.
template <class Body, Reach kReach, int kUnroll>
__device__ __forceinline__ void visit_untyped(const Task& task, const Body& body, std::int64_t first_pack) {
  constexpr int kInputs = Body::kInputs;
  RawPack in[kInputs][kUnroll];
  Place<kInputs + 1> places[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    Place<kInputs + 1>& place = places[u];
    place = place_of<kReach, Body>(task, first_pack + static_cast<std::int64_t>(u) * blockDim.x);
    if (place.first == 0 && place.last == Body::kPack) {
      load_whole_inputs<Body, kReach>(task, place.offsets, u, in);
      continue;
    }
#pragma unroll
    for (int o = 0; o < kInputs; ++o) {
      in[o][u] = {};
      if (o < task.inputs && place.last > 0)
        load_part(task.operands[o], task.data[o] + place.offsets[o], place.first, place.last, in[o][u]);
    }
  }
  RawPack out[kUnroll];
  body.template compute<kUnroll>(in, out);
  const Operand& operand = task.operands[kInputs];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Place<kInputs + 1>& place = places[u];
    char* g_out = const_cast<char*>(task.data[kInputs]) + place.offsets[kInputs];
    if (place.first == 0 && place.last == Body::kPack)
      store_whole<kReach, Body::kPack, 0>(operand, g_out, out[u]);
    else
      store_part(operand, g_out, place.first, place.last, out[u]);
  }
}

// Thread t of a block takes packs t, t + blockDim.x ... of the block's: neighbours touch neighbouring packs.
template <class Body, Reach kReach, int kUnroll>
__global__ void __launch_bounds__(kThreads, Body::kResidentBlocks)
    elementwise_kernel(const __grid_constant__ Task task, const __grid_constant__ Body body) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * blockDim.x * kUnroll;  // its first pack
  if constexpr (!Body::kTyped) {
    visit_untyped<Body, kReach, kUnroll>(task, body, tile + threadIdx.x);
  } else {
    if constexpr (!has_rows(kReach)) {
      const std::int64_t begin = tile * Body::kPack - task.lead;
      const std::int64_t end = begin + static_cast<std::int64_t>(blockDim.x) * kUnroll * Body::kPack;
      if (begin >= 0 && end <= task.columns) {
        return visit_whole<Body, kReach, kUnroll>(task, body, [&](int u) {
          const unsigned element = (static_cast<unsigned>(u) * blockDim.x + threadIdx.x) * Body::kPack;
          Place<Body::kInputs + 1> place;
#pragma unroll
          for (int o = 0; o <= Body::kInputs; ++o)
            place.offsets[o] = (begin + element) * task.operands[o].element_step;
          return place;
        });
      }
    }
#pragma unroll 1
    for (int u = 0; u < kUnroll; ++u)
      visit_typed<kReach>(task, body, tile + static_cast<std::int64_t>(u) * blockDim.x + threadIdx.x);
  }
}

// The inputs of an aligned pack, and all of a pack's tensors from one element on.
template <class Body, int kInput = 0>
__device__ __forceinline__ void load_aligned(const AlignedTask& task, std::int64_t element,
                                             RawPack (&in)[Body::kInputs]) {
  constexpr int kBytes = Body::kPack * Body::size(kInput);
  set_piece<kBytes>(in[kInput], 0, load_bytes<kBytes>(task.data[kInput] + element * Body::size(kInput)));
  if constexpr (kInput + 1 < Body::kInputs) load_aligned<Body, kInput + 1>(task, element, in);
}

// The same for Reach::aligned, with no more arguments and arithmetic than that needs.
template <class Body, int kUnroll>
__global__ void __launch_bounds__(kWideThreads)
    aligned_kernel(const __grid_constant__ AlignedTask task, const __grid_constant__ Body body) {
  constexpr int kInputs = Body::kInputs;
  constexpr int kPack = Body::kPack;
  constexpr int kOutBytes = kPack * Body::size(kInputs);
  // The block's own part of a place is the same for all threads: theirs has 32 bits.
  const std::int64_t begin =
      static_cast<std::int64_t>(blockIdx.x) * blockDim.x * (kUnroll * kPack) - task.lead;
  char* g_out = const_cast<char*>(task.data[kInputs]);
  RawPack loaded[kUnroll][kInputs];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::int64_t element = begin + (static_cast<unsigned>(u) * blockDim.x + threadIdx.x) * kPack;
    if (element >= 0 && element + kPack <= task.columns) load_aligned<Body>(task, element, loaded[u]);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::int64_t element = begin + (static_cast<unsigned>(u) * blockDim.x + threadIdx.x) * kPack;
    if (element < 0 || element + kPack > task.columns) continue;
    RawPack in[kInputs][1];
#pragma unroll
    for (int o = 0; o < kInputs; ++o) in[o][0] = loaded[u][o];
    RawPack out[1];
    body.template compute<1>(in, out);
    store_bytes<kOutBytes>(g_out + element * Body::size(kInputs), get_piece<kOutBytes>(out[0], 0));
  }
  // The code from here on comes from memory itself where the caches are cold, and who is not asked to run it does not wait.
  if (!task.has_ends || (blockIdx.x != 0 && blockIdx.x != gridDim.x - 1)) return;
  // What packs do not cover, less than one in front and one behind: an element for each of the first threads.
  const std::int64_t past = task.lead % kPack;
  const std::int64_t front = past == 0 ? 0 : kPack - past;
  const std::int64_t head = front < task.columns ? front : task.columns;
  const std::int64_t behind = task.columns - (task.columns + task.lead) % kPack;
  const std::int64_t tail = behind > head ? behind : head;
#pragma unroll 1
  for (int end = 0; end < 2; ++end) {
    const bool is_there = blockIdx.x == (end == 0 ? 0 : gridDim.x - 1);
    const std::int64_t i = (end == 0 ? 0 : tail) + threadIdx.x;
    if (!is_there || i >= (end == 0 ? head : task.columns)) continue;
    const char* g_in[kInputs];
#pragma unroll
    for (int o = 0; o < kInputs; ++o) g_in[o] = task.data[o] + i * Body::size(o);
    body.compute_one(g_in, g_out + i * Body::size(kInputs));
  }
}

// A call's tensors: the inputs, then the output, which the kernel writes.
using Pointers = const void* [kMostOperands];

// `output`: where the body looks for the output, its kInputs.
inline AlignedTask aligned_task_of(const Layout& layout, const Pointers& pointers, int output, int pack) {
  AlignedTask task{.data = {},
                   .columns = layout.columns,
                   .lead = layout.lead,
                   .has_ends = layout.lead % pack != 0 || (layout.columns + layout.lead) % pack != 0};
  for (int o = 0; o < layout.inputs; ++o) task.data[o] = static_cast<const char*>(pointers[o]);
  task.data[output] = static_cast<const char*>(pointers[layout.inputs]);
  return task;
}
inline Task task_of(const Layout& layout, const Pointers& pointers, int output) {
  const bool is_narrow = layout.packs() < kMostNarrowPacks;
  Task task{.data = {},
            .operands = {},
            .columns = layout.columns,
            .packs = layout.packs(),
            .lead = layout.lead,
            .inputs = layout.inputs,
            .outer = layout.outer,
            .wide = divisors_of<std::uint64_t>(layout),
            .narrow = divisors_of<std::uint32_t>(is_narrow ? layout : Layout{.columns = 1})};
  for (int o = 0; o < layout.inputs; ++o) {
    task.data[o] = static_cast<const char*>(pointers[o]);
    task.operands[o] = layout.operands[static_cast<std::size_t>(o)];
  }
  task.data[output] = static_cast<const char*>(pointers[layout.inputs]);
  task.operands[output] = layout.output();
  return task;
}

// Threads of a block: all multiprocessors have one before any has a larger one. Two very large tensors that become one want
// fewer threads at once than fit, 1408 on an H200, and all of the L1 beside them (f32, 2^28: 0.989 of CUB by small blocks,
// which fill a multiprocessor, 1.00 by two of 704; shared memory that keeps blocks away takes 2 %).
inline int threads_for(std::int64_t packs, int unroll, int inputs, int multiprocessors) {
  constexpr std::int64_t kWaves = 180;
  if (inputs == 2 && packs >= kWaves * kWideThreads * unroll * multiprocessors) return kWideThreads;
  int threads = kThreads;
  while (threads > 32 && packs < std::int64_t{threads} * unroll * multiprocessors) threads /= 2;
  return threads;
}

// The blocks that visit the layout's packs.
[[nodiscard]] inline Result<LaunchConfig> blocks_for(const Layout& layout, int unroll, int inputs,
                                                     StreamRef stream, int multiprocessors) {
  constexpr std::int64_t kMostBlocks = 2147483647;
  const int threads = threads_for(layout.packs(), unroll, inputs, multiprocessors);
  const std::int64_t blocks = ceil_div(layout.packs(), std::int64_t{threads} * unroll);
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for parts of the tensors");
  return LaunchConfig{.grid = dim3(static_cast<unsigned>(blocks)),
                      .block = dim3(static_cast<unsigned>(threads)),
                      .stream = stream};
}

// One launch of the layout's packs, by a body that serves this reach.
template <class Body, Reach kReach, int kUnroll>
[[nodiscard]] Status launch_reach(const Layout& layout, const Pointers& pointers, const Body& body,
                                  StreamRef stream, int multiprocessors) {
  constexpr bool kAligned = kReach == Reach::aligned;
  const Result<LaunchConfig> config =
      blocks_for(layout, kUnroll, kAligned ? Body::kInputs : 0, stream, multiprocessors);
  if (!config.ok()) return config.status();
  if constexpr (kAligned)
    return launch(aligned_kernel<Body, kUnroll>, *config,
                  aligned_task_of(layout, pointers, Body::kInputs, Body::kPack), body);
  else
    return launch(elementwise_kernel<Body, kReach, kUnroll>, *config,
                  task_of(layout, pointers, Body::kInputs), body);
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_engine
