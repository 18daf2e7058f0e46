// How rows go through a block's rings in the norms' backward passes: decided on the host, read by rungs/backward_ring.h. And which
// rung a call gets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/families/norm/norm_backward_plan.h"

namespace rooftile::norm_backward_plan {

// Threads of a group, which has whole rows; vectors of a row that each has; rows whose sums come together at once.
struct RingShape {
  int threads = 0;
  int vectors = 0;
  int rows = 0;
  [[nodiscard]] constexpr std::int64_t capacity() const { return std::int64_t{threads} * vectors; }
  [[nodiscard]] constexpr std::int64_t groups() const;  // of a block
};
inline constexpr std::array<RingShape, 7> kRingShapes = {
    {{32, 1, 2}, {32, 2, 2}, {64, 2, 2}, {128, 2, 2}, {256, 2, 2}, {512, 2, 2}, {512, 4, 1}}};
inline constexpr int kRingThreads = 512;  // of all groups of a block: 128 registers for each
constexpr std::int64_t RingShape::groups() const { return kRingThreads / threads; }
inline constexpr int kMostRowSlots = 128;  // of all groups
// Shared memory beside the rings: where rows are, barriers, what warps have found.
inline constexpr std::size_t kRingBeside = 8192;

inline int ring_shape_for(std::int64_t vectors) {
  for (std::size_t shape = 0; shape < kRingShapes.size(); ++shape)
    if (kRingShapes[shape].capacity() >= vectors) return static_cast<int>(shape);
  return -1;
}

// On their way to a multiprocessor at once: with more of them DRAM serves the rows that go back slower (measured on an H200: 128 KiB
// take 3 to 12 % longer, of one shape 3 % less).
inline constexpr std::int64_t kBytesOnTheirWay = 96 << 10;

// Rows of x and dy in a group's ring: those that are read, and as many on their way as pays, as far as there is room.
inline int row_slots(const RingShape& shape, std::int64_t row_bytes, const DeviceProperties& device) {
  const std::int64_t room =
      static_cast<std::int64_t>(device.shared_memory_per_block) - static_cast<std::int64_t>(kRingBeside);
  const std::int64_t slot_bytes = larger(kRowVectorBytes, 2 * row_bytes) * shape.groups();
  const std::int64_t slots = smaller(kMostRowSlots / shape.groups(), room / slot_bytes);
  return static_cast<int>(smaller(slots, shape.rows + larger(shape.rows, kBytesOnTheirWay / slot_bytes)));
}
// What a block's groups have added up comes together in the rings' place.
inline std::size_t ring_bytes(std::int64_t slots, const RingShape& shape, std::int64_t row_bytes,
                              std::int64_t n) {
  const std::int64_t sums = shape.groups() * 2 * n * static_cast<std::int64_t>(sizeof(float));
  return static_cast<std::size_t>(larger(shape.groups() * slots * 2 * row_bytes, sums));
}

template <class Args>
std::string_view supports_ring(const Args& args, const DeviceProperties& device) {
  if (const std::string_view refusal = supports_fused(args, device); !refusal.empty()) return refusal;
  static_assert(kRingShapes.back().capacity() >= kGroupShapes.back().capacity());
  // Some are read while as many are on their way.
  const auto shape = static_cast<std::size_t>(ring_shape_for(row_bytes(args) / kRowVectorBytes));
  const RingShape& of = kRingShapes[shape];
  if (row_slots(of, row_bytes(args), device) < 2 * of.rows)
    return "needs shared memory for more rows of x and dy than each group of warps reads at once: see fused";
  return {};
}

template <class Args>
RungPlan plan_ring(const Args& args, const DeviceProperties& device) {
  Cut cut{.rows = geometry(args)};
  cut.shape = ring_shape_for(row_bytes(args) / kRowVectorBytes);
  // A block to each multiprocessor, or several one after the other, so that no group's chain of additions gets too long.
  const std::int64_t most_rows = kMostPartRows * kRingShapes[static_cast<std::size_t>(cut.shape)].groups();
  const std::int64_t rounds = ceil_div(cut.rows.count, most_rows * device.multiprocessors);
  cut.parts = smaller(cut.rows.count, larger(1, rounds) * device.multiprocessors);
  return plan_with_parts(cut, 0);
}

// Rows of a few vectors pay for being asked for one by one: where there are many, a kernel that starts faster does not make up for it.
template <class Args>
bool pays_to_ask(const Args& args, const DeviceProperties& device) {
  constexpr std::int64_t kShortBytes = 256;
  const std::int64_t rows_of_each = args.x.dtype == DType::f32 ? 500 : 750;
  return row_bytes(args) > kShortBytes || geometry(args).count < rows_of_each * device.multiprocessors;
}

template <class Args>
std::string_view choose(const Args& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (device.compute_capability == 90 && supports_ring(args, device).empty() && pays_to_ask(args, device))
    return "shared_ring";
  if (supports_fused(args, device).empty()) return "fused";
  return supports_elements(args, device).empty() ? "fused_elements" : "column_parts";
}

}  // namespace rooftile::norm_backward_plan
