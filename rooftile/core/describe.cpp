#include "rooftile/core/describe.h"

#include <algorithm>
#include <cstdlib>

#include "rooftile/core/overlap.h"

namespace rooftile::detail {
namespace {

const TensorSlot* find(const std::vector<TensorSlot>& slots, const std::string& name) {
  const auto at =
      std::find_if(slots.begin(), slots.end(), [&](const TensorSlot& s) { return s.name == name; });
  return at == slots.end() ? nullptr : &*at;
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
                   ArgsRef args) {
  if (!slot.dtype_of.empty()) {
    const DType wanted = find(slots, slot.dtype_of)->view(args).dtype;
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
                   ArgsRef args) {
  if (view.rank() < slot.min_rank || view.rank() > slot.max_rank) {
    const std::string least = std::to_string(slot.min_rank);
    const std::string wanted = slot.min_rank == slot.max_rank ? least
                               : slot.max_rank == kMaxRank    ? "at least " + least
                                                           : least + " to " + std::to_string(slot.max_rank);
    return invalid_argument(slot.name + " must have " + wanted + " dimension" + (wanted == "1" ? "" : "s"));
  }
  if (!slot.shape_of.empty() && !(view.shape == find(slots, slot.shape_of)->view(args).shape))
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

Status check_overlap(const std::vector<TensorSlot>& slots, std::size_t written, ArgsRef args) {
  const TensorSlot& slot = slots[written];
  const ConstTensorView view = slot.view(args);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const TensorSlot& other = slots[i];
    // Of two outputs the later one is blamed.
    if (i == written || (is_written(other) && i > written)) continue;
    const ConstTensorView other_view = other.view(args);
    if (absent(other, other_view) || !overlaps(view, other_view)) continue;
    if (slot.may_alias != other.name) return invalid_argument(slot.name + " must not overlap " + other.name);
    if (!same_tensor(view, other_view)) {
      return invalid_argument(slot.name + " must be " + other.name +
                              " itself, with its shape and strides, or not overlap it");
    }
  }
  return {};
}

}  // namespace

Status check_slots(const std::vector<TensorSlot>& slots, ArgsRef args, Device device) {
  for (const TensorSlot& slot : slots) {
    const ConstTensorView view = slot.view(args);
    if (absent(slot, view)) continue;
    ROOFTILE_TRY(check_view(view, slot.name));
    ROOFTILE_TRY(check_dtype(slots, slot, view, args));
    ROOFTILE_TRY(check_shape(slots, slot, view, args));
    ROOFTILE_TRY(check_layout(slot, view));
    if (view.device != device) {
      return invalid_argument(slot.name + " is on " + to_string(view.device) + " and the call runs on " +
                              to_string(device) + ": use a Context or stream of its device, or copy it");
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (is_written(slots[i]) && !absent(slots[i], slots[i].view(args)))
      ROOFTILE_TRY(check_overlap(slots, i, args));
  }
  return {};
}

Result<std::vector<TensorSpec>> infer_from_slots(const std::vector<TensorSlot>& slots,
                                                 std::span<const TensorSpec> inputs) {
  const auto input = [&](const std::string& name) -> const TensorSpec* {
    std::size_t at = 0;
    for (const TensorSlot& slot : slots) {
      if (!is_read(slot)) continue;
      if (slot.name == name) return at < inputs.size() ? &inputs[at] : nullptr;
      ++at;
    }
    return nullptr;
  };
  std::vector<TensorSpec> outputs;
  for (const TensorSlot& slot : slots) {
    if (slot.direction != SlotDirection::out) continue;
    const TensorSpec* shape = input(slot.shape_of);
    const TensorSpec* dtype = input(slot.dtype_of);
    if (shape == nullptr || dtype == nullptr) {
      return internal_error(
          "slot " + slot.name +
          " names no input by shape_of and dtype_of: the operator needs its own infer_outputs");
    }
    outputs.push_back({dtype->dtype, shape->shape});
  }
  return outputs;
}

Status check_param(const ParamSpec& spec, const ParamValue& value) {
  // An enum's value without a name is one that was cast from another number.
  if (const auto* text = std::get_if<std::string>(&value);
      text != nullptr && !spec.choices.empty() && text->empty())
    return invalid_argument(spec.name + " is none of its values: use " + legal_values(spec));
  if (spec.minimum > spec.maximum) return {};
  const auto outside = [&](double number) { return !(number >= spec.minimum && number <= spec.maximum); };
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  const bool wrong = (integer != nullptr && outside(static_cast<double>(*integer))) ||
                     (real != nullptr && outside(*real)) ||
                     (list != nullptr && std::any_of(list->begin(), list->end(), [&](std::int64_t entry) {
                        return outside(static_cast<double>(entry));
                      }));
  return wrong ? invalid_argument(spec.name + " is " + to_string(value) + ": use " + legal_values(spec))
               : Status();
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
