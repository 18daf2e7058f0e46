#include "rooftile/core/describe.h"

#include <algorithm>
#include <cstdlib>

#include "rooftile/core/overlap.h"

namespace rooftile::detail {
namespace {

// Past the last where there is none.
std::size_t index_of(const std::vector<TensorSlot>& slots, const std::string& name) {
  std::size_t i = 0;
  while (i < slots.size() && slots[i].name != name) ++i;
  return i;
}

bool absent(const TensorSlot& slot, const ConstTensorView& view) { return slot.optional && is_absent(view); }

// Whether no two elements share a place: each stride clears all that the smaller ones span. (A permutation that
// interleaves in another way is refused as well.)
bool every_element_has_a_place(const ConstTensorView& view) {
  std::array<bool, kMaxRank> taken{};
  std::int64_t span = 0;
  for (int step = 0; step < view.rank(); ++step) {
    int smallest = -1;
    for (int d = 0; d < view.rank(); ++d) {
      if (taken[static_cast<std::size_t>(d)] || view.shape[d] <= 1) continue;
      if (smallest < 0 || std::abs(view.strides[d]) < std::abs(view.strides[smallest])) smallest = d;
    }
    if (smallest < 0) return true;
    const std::int64_t stride = std::abs(view.strides[smallest]);
    if (stride <= span) return false;
    span += stride * (view.shape[smallest] - 1);
    taken[static_cast<std::size_t>(smallest)] = true;
  }
  return true;
}

bool same_tensor(const ConstTensorView& a, const ConstTensorView& b) {
  if (a.data != b.data || a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

Status check_dtype(const std::vector<TensorSlot>& slots, const TensorSlot& slot, const ConstTensorView& view,
                   const SlotViews& views) {
  if (!slot.dtype_of.empty()) {
    const DType wanted = views[index_of(slots, slot.dtype_of)].dtype;
    if (view.dtype == wanted) return {};
    return invalid_argument(slot.name + " must have the dtype of " + slot.dtype_of + ", " +
                            std::string(to_string(wanted)));
  }
  if (slot.dtypes.contains(view.dtype)) return {};
  const std::string legal = slot.dtypes.to_string();
  return unsupported(slot.name + " must be " + (legal.find(' ') == std::string::npos ? "" : "one of ") +
                     legal);
}

Status check_shape(const std::vector<TensorSlot>& slots, const TensorSlot& slot, const ConstTensorView& view,
                   const SlotViews& views) {
  if (view.rank() < slot.min_rank || view.rank() > slot.max_rank) {
    const std::string least = std::to_string(slot.min_rank);
    const std::string wanted = slot.min_rank == slot.max_rank ? least
                               : slot.max_rank == kMaxRank    ? "at least " + least
                                                           : least + " to " + std::to_string(slot.max_rank);
    return invalid_argument(slot.name + " must have " + wanted + " dimension" + (wanted == "1" ? "" : "s"));
  }
  if (!slot.shape_of.empty() && !(view.shape == views[index_of(slots, slot.shape_of)].shape))
    return invalid_argument(slot.name + " must have the shape of " + slot.shape_of);
  return {};
}

Status check_layout(const TensorSlot& slot, const ConstTensorView& view) {
  if (slot.dense && !view.contiguous()) {
    return unsupported(slot.name + " must be row-major without gaps" +
                       (is_read(slot) ? ": copy it first" : ""));
  }
  if (is_written(slot) && !slot.dense && !every_element_has_a_place(view))
    return invalid_argument(slot.name + "'s strides must give every element a place of its own");
  return {};
}

// Whether an output may be that input itself.
bool may_be(const TensorSlot& output, std::string_view input) {
  std::string_view names = output.may_alias;
  while (!names.empty()) {
    const std::size_t space = std::min(names.find(' '), names.size());
    if (names.substr(0, space) == input) return true;
    names.remove_prefix(std::min(space + 1, names.size()));
  }
  return false;
}

Status check_overlap(const std::vector<TensorSlot>& slots, std::size_t written, const SlotViews& views) {
  const TensorSlot& slot = slots[written];
  const ConstTensorView& view = views[written];
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const TensorSlot& other = slots[i];
    // Of two outputs the later one is blamed.
    if (i == written || (is_written(other) && i > written)) continue;
    const ConstTensorView& other_view = views[i];
    if (absent(other, other_view) || !overlaps(view, other_view)) continue;
    if (!may_be(slot, other.name)) return invalid_argument(slot.name + " must not overlap " + other.name);
    if (!same_tensor(view, other_view)) {
      return invalid_argument(slot.name + " must be " + other.name +
                              " itself, with its shape and strides, or not overlap it");
    }
  }
  return {};
}

}  // namespace

Status check_slots(const std::vector<TensorSlot>& slots, const SlotViews& views, Device device,
                   CallStage stage) {
  if (slots.size() > SlotViews::kMost)
    return internal_error("an operator has at most " + std::to_string(SlotViews::kMost) + " slots");
  const ViewMemory memory = stage == CallStage::complete ? ViewMemory::needed : ViewMemory::later;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const TensorSlot& slot = slots[i];
    const ConstTensorView& view = views[i];
    if (absent(slot, view)) continue;
    if (stage == CallStage::inputs_only && !is_read(slot)) {
      if (is_absent(view)) continue;
      return invalid_argument(slot.name + " is given to a call that makes it: leave it out");
    }
    ROOFTILE_TRY(check_view(view, slot.name, memory));
    ROOFTILE_TRY(check_dtype(slots, slot, view, views));
    ROOFTILE_TRY(check_shape(slots, slot, view, views));
    ROOFTILE_TRY(check_layout(slot, view));
    if (view.device != device) {
      return invalid_argument(slot.name + " is on " + to_string(view.device) + " and the call runs on " +
                              to_string(device) + ": use a Context or stream of its device, or copy it");
    }
  }
  if (stage != CallStage::complete) return {};
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (is_written(slots[i]) && !absent(slots[i], views[i])) ROOFTILE_TRY(check_overlap(slots, i, views));
  }
  return {};
}

namespace {

bool same_without_ones(const Extents& a, const Extents& b) {
  int i = 0;
  int j = 0;
  for (;; ++i, ++j) {
    while (i < a.rank() && a[i] == 1) ++i;
    while (j < b.rank() && b[j] == 1) ++j;
    if (i == a.rank() || j == b.rank()) return i == a.rank() && j == b.rank();
    if (a[i] != b[j]) return false;
  }
}

}  // namespace

Status check_outputs(const std::vector<TensorSlot>& slots, const SlotViews& views, ArgsRef args) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const TensorSlot& slot = slots[i];
    // One that is shaped like another slot has been compared with it.
    if (slot.direction != SlotDirection::out || !slot.shape_of.empty()) continue;
    const ConstTensorView& view = views[i];
    if (absent(slot, view)) continue;
    TensorSpec spec;
    ROOFTILE_TRY(slot.spec(args, spec));
    if (view.shape == spec.shape || (slot.free_ones && same_without_ones(view.shape, spec.shape))) continue;
    return invalid_argument(slot.name + " must have the shape " + spec.shape.to_string() +
                            (slot.free_ones ? ", extents of 1 aside" : ""));
  }
  return {};
}

Status spec_from_slots(const std::vector<TensorSlot>& slots, std::size_t output, ArgsRef args,
                       TensorSpec& spec) {
  const std::size_t dtype = index_of(slots, slots[output].dtype_of);
  const std::size_t shape = index_of(slots, slots[output].shape_of);
  if (dtype == slots.size() || shape == slots.size()) {
    return internal_error("slot " + slots[output].name +
                          " names no slot by shape_of and dtype_of: it needs a function that gives its spec");
  }
  spec = {slots[dtype].view(args).dtype, slots[shape].view(args).shape};
  return {};
}

Status set_inputs(const std::vector<TensorSlot>& slots, std::span<const TensorSpec> inputs, void* args) {
  std::size_t at = 0;
  for (const TensorSlot& slot : slots) {
    if (!is_read(slot)) continue;
    if (at == inputs.size()) return internal_error("fewer inputs than slots that are read");
    const TensorSpec& input = inputs[at++];
    slot.set(args, is_absent(input) ? TensorView()
                                    : contiguous_view<void>(nullptr, input.dtype, kCpu, input.shape));
  }
  return {};
}

Result<std::vector<TensorSpec>> output_specs(const std::vector<TensorSlot>& slots, ArgsRef args) {
  std::vector<TensorSpec> specs;
  for (const TensorSlot& slot : slots) {
    if (slot.direction != SlotDirection::out) continue;
    specs.emplace_back();
    ROOFTILE_TRY(slot.spec(args, specs.back()));
  }
  return specs;
}

Status invalid_param(const ParamSpec& spec, const ParamValue& value) {
  return invalid_argument(spec.name + " is " + to_string(value) + ": use " + legal_values(spec));
}

Status check_counts(const std::vector<TensorSlot>& slots, std::size_t tensors) {
  if (tensors == slots.size()) return {};
  return internal_error("the operator has " + std::to_string(slots.size()) + " slots, " +
                        std::to_string(tensors) + " tensors were given");
}

Device device_of(std::span<const TensorView> tensors) {
  const auto there =
      std::find_if(tensors.begin(), tensors.end(), [](const TensorView& v) { return !is_absent(v); });
  return there == tensors.end() ? kCpu : there->device;
}

}  // namespace rooftile::detail
