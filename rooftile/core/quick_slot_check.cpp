#include "rooftile/core/detail/quick_slot_check.h"

#include <array>

namespace rooftile::detail {
namespace {

std::int8_t index_of(const std::vector<TensorSlot>& slots, const std::string& name) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == name) return static_cast<std::int8_t>(i);
  }
  return -1;
}

// The bytes of a view that is surely sound: contiguous, not empty, in memory that is aligned to its element. 0: it may
// not be.
std::uint64_t bytes_of_ordinary(const ConstTensorView& view) {
  const std::size_t element = size_of(view.dtype);
  if (element == 0) return 0;
  const int rank = view.shape.rank();
  if (view.shape.fault() != ShapeFault::none || rank != view.strides.rank()) return 0;
  auto bytes = static_cast<std::int64_t>(element);
  std::int64_t elements = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t extent = view.shape[d];
    if (extent < 1 || (extent > 1 && view.strides[d] != elements)) return 0;
    // What fits in bytes fits in elements.
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return 0;
    elements *= extent;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  // A size is a power of two: no division.
  return address == 0 || (address & (element - 1)) != 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

}  // namespace

QuickSlotCheck::QuickSlotCheck(const std::vector<TensorSlot>& slots) {
  for (const TensorSlot& slot : slots) {
    rules_.push_back({slot.dtypes, static_cast<std::int8_t>(slot.min_rank),
                      static_cast<std::int8_t>(slot.max_rank), index_of(slots, slot.dtype_of),
                      index_of(slots, slot.shape_of), is_written(slot)});
    writes_ = writes_ || is_written(slot);
  }
}

bool QuickSlotCheck::surely_holds(const SlotViews& views, Device device) const {
  struct Range {
    std::uintptr_t first;
    std::uintptr_t last;
  };
  if (!writes_ || rules_.size() > SlotViews::kMost) return false;
  std::array<Range, SlotViews::kMost>
      ranges;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    const ConstTensorView& view = views[i];
    // First: it knows a dtype that is none.
    const std::uint64_t bytes = bytes_of_ordinary(view);
    if (bytes == 0) return false;
    if (!rule.dtypes.contains(view.dtype) || view.device != device) return false;
    if (view.rank() < rule.min_rank || view.rank() > rule.max_rank) return false;
    if (rule.dtype_of >= 0 && view.dtype != views[static_cast<std::size_t>(rule.dtype_of)].dtype)
      return false;
    if (rule.shape_of >= 0 && !(view.shape == views[static_cast<std::size_t>(rule.shape_of)].shape))
      return false;
    const auto address = reinterpret_cast<std::uintptr_t>(view.data);
    ranges[i] = {address, address + bytes};
    for (std::size_t j = 0; j < i; ++j) {
      const bool apart = ranges[i].last <= ranges[j].first || ranges[j].last <= ranges[i].first;
      if (!apart && (rule.written || rules_[j].written)) return false;
    }
  }
  return true;
}

}  // namespace rooftile::detail
