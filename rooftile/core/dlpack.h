// Tensors to and from other frameworks without a copy, by DLPack.
//
//   Result<TensorView> x = view_dlpack(managed->dl_tensor);       // theirs: valid until their deleter is called
//   Result<dlpack::ManagedTensor*> y = to_dlpack(std::move(tensor));
//
// view_dlpack takes the DLTensor of dlpack/dlpack.h as well as the one here: both have the layout of the specification,
// and a pointer to one managed tensor may be cast to the other. Strides are elements, none means row-major. Host memory
// that CUDA pinned counts as the CPU's, managed memory as the GPU's. One lane; integers of 8 to 64 bits, floats of 16 to 64,
// bfloat16, float8 e4m3fn and e5m2; anything else is an error. Nothing waits for a stream: who hands over a tensor has
// ordered its work.
// Source: the DLPack specification, https://dmlc.github.io/dlpack (unversioned structs; type codes of version 1.1).
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/tensor.h"
#include "rooftile/core/view.h"

namespace rooftile {
namespace dlpack {

struct Device {  // DLDevice
  std::int32_t device_type;
  std::int32_t device_id;
};
struct DataType {  // DLDataType
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct ManagedTensor {  // DLManagedTensor
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};

[[nodiscard]] Result<TensorView> view_of(const DLTensor& tensor);

}  // namespace dlpack

// A view of a DLTensor, whoever declared the struct.
template <class Theirs>
[[nodiscard]] Result<TensorView> view_dlpack(const Theirs& t) {
  return dlpack::view_of({t.data,
                          {static_cast<std::int32_t>(t.device.device_type), t.device.device_id},
                          t.ndim,
                          {t.dtype.code, t.dtype.bits, t.dtype.lanes},
                          t.shape,
                          t.strides,
                          t.byte_offset});
}

// Hands a tensor over: whoever takes it calls its deleter. A tensor of the simulated SM lives on the CPU.
[[nodiscard]] Result<dlpack::ManagedTensor*> to_dlpack(Tensor tensor);

}  // namespace rooftile
