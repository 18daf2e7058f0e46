// How the rungs of rope cut a call: tokens, heads, pairs; and the frequencies of its pairs.
#pragma once

#include <array>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/rung.h"
#include "rooftile/ops/rope/rope.h"

namespace rooftile::rope_plan {

inline constexpr std::int64_t kMostHeadElements = 512;
inline constexpr int kMostPairs = static_cast<int>(kMostHeadElements / 2);
inline constexpr int kBlock = 256;
inline constexpr std::int64_t kVectorBytes = 16;

// Where the heads of a tensor lie, in elements.
struct Strides {
  std::int64_t batch = 0;
  std::int64_t token = 0;
  std::int64_t head = 0;
  std::int64_t step = 1;
};

struct Cut {
  std::int64_t batches = 0;
  std::int64_t tokens = 0;  // of a sequence
  std::int64_t q_heads = 0;
  std::int64_t k_heads = 0;  // 0: no k
  std::int64_t width = 0;    // elements of a head
  std::int64_t rotary = 0;
  Strides q{}, k{}, q_out{}, k_out{};
  std::int64_t position_batch = 0;  // strides of positions
  std::int64_t position_token = 0;

  [[nodiscard]] constexpr std::int64_t pairs() const { return rotary / 2; }
  [[nodiscard]] constexpr std::int64_t heads() const { return q_heads + k_heads; }
  [[nodiscard]] constexpr bool is_empty() const { return batches * tokens * heads() * width == 0; }
};

// Turns of a position's step, by pair: frequency / (2 pi). In a kernel's parameters they are constant memory.
struct Turns {
  std::array<double, kMostPairs> of{};
};

[[nodiscard]] Cut cut_of(const RopeArgs& args);
[[nodiscard]] Turns turns_of(const RopeArgs& args);
// Heads that begin at multiples of 16 bytes, without gaps, whose turned and copied parts are whole vectors.
[[nodiscard]] bool has_vectors(const RopeArgs& args, const Cut& cut);

}  // namespace rooftile::rope_plan
