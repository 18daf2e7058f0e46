#include "rooftile/lab/inspect/reserved_tensors.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/case/strided.h"

namespace rooftile::lab {

Result<Addresses> Addresses::reserve(std::size_t bytes) {
  Addresses addresses;
  addresses.bytes_ = std::max<std::size_t>(bytes, 1);
  void* const start =
      ::mmap(nullptr, addresses.bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return Status::error(StatusCode::out_of_memory,
                         fmt::format("cannot reserve addresses for {}: choose a smaller --shape",
                                     format_bytes(static_cast<double>(bytes))));
  }
  addresses.start_ = start;
  return addresses;
}

Addresses::Addresses(Addresses&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Addresses& Addresses::operator=(Addresses&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Addresses::~Addresses() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

Result<ReservedTensors> reserve_tensors(const OperatorDescriptor& op, const Case& c, const TensorPlan& plan,
                                        Device device) {
  ReservedTensors tensors;
  const auto add = [&](const TensorSpec& spec, const Extents& given) -> Status {
    ROOFTILE_TRY(checked_numel(spec.shape, size_of(spec.dtype)).status());
    const Extents strides = given.empty() ? contiguous_strides(spec.shape) : given;
    const StridedSpan span = strided_span(spec, strides);
    const std::size_t offset = static_cast<std::size_t>(c.offset) * size_of(spec.dtype);
    ROOFTILE_TRY_ASSIGN(Addresses addresses, Addresses::reserve(offset + span.bytes));
    tensors.views.emplace_back(static_cast<void*>(addresses.data() + offset + span.first_element), spec.dtype,
                               device, spec.shape, strides);
    tensors.addresses.push_back(std::move(addresses));
    return {};
  };
  std::size_t input = 0;
  std::size_t output = 0;
  for (const TensorSlot& slot : op.slots) {
    if (is_read(slot)) {
      const InputPlan& planned = plan.work.inputs[input++];
      if (planned.absent)
        tensors.views.emplace_back();
      else
        ROOFTILE_TRY(add({planned.dtype, planned.shape}, planned.strides));
    } else {
      const std::vector<Extents>& given = plan.work.output_strides;
      ROOFTILE_TRY(add(plan.outputs[output], output < given.size() ? given[output] : Extents()));
      ++output;
    }
  }
  return tensors;
}

}  // namespace rooftile::lab
