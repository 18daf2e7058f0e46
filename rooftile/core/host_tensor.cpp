#include "rooftile/core/host_tensor.h"

#include "rooftile/core/detail/host_memory.h"

namespace rooftile {

void HostTensor::Free::operator()(void* data) const { detail::free_host(data); }

Result<HostTensor> HostTensor::create(DType dtype, const Extents& shape) {
  HostTensor tensor;
  ROOFTILE_TRY_ASSIGN(tensor.numel_, checked_numel(shape, size_of(dtype)));
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  ROOFTILE_TRY_ASSIGN(void* data, detail::allocate_host(tensor.bytes()));
  tensor.data_.reset(data);
  return tensor;
}

}  // namespace rooftile
