#include "rooftile/core/dlpack.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "rooftile/core/detail/guarded.h"

namespace rooftile {
namespace dlpack {
namespace {

enum DeviceType { kCpuMemory = 1, kCudaMemory = 2, kCudaPinned = 3, kCudaManaged = 13 };

struct Row {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr std::uint8_t kInt = 0;
constexpr std::uint8_t kUint = 1;
constexpr std::uint8_t kFloat = 2;
constexpr std::uint8_t kBfloat = 4;
constexpr std::uint8_t kFloat8E4M3Fn = 10;
constexpr std::uint8_t kFloat8E5M2 = 12;
constexpr std::array<Row, kDTypeCount> kRows = {{{DType::f64, kFloat, 64},
                                                 {DType::f32, kFloat, 32},
                                                 {DType::f16, kFloat, 16},
                                                 {DType::bf16, kBfloat, 16},
                                                 {DType::f8e4m3, kFloat8E4M3Fn, 8},
                                                 {DType::f8e5m2, kFloat8E5M2, 8},
                                                 {DType::i8, kInt, 8},
                                                 {DType::i16, kInt, 16},
                                                 {DType::i32, kInt, 32},
                                                 {DType::i64, kInt, 64},
                                                 {DType::u8, kUint, 8},
                                                 {DType::u16, kUint, 16},
                                                 {DType::u32, kUint, 32},
                                                 {DType::u64, kUint, 64}}};

Result<DType> dtype_from(const DataType& type) {
  for (const Row& row : kRows) {
    if (type.lanes == 1 && row.code == type.code && row.bits == type.bits) return row.dtype;
  }
  return unsupported("the DLPack type with code " + std::to_string(type.code) + ", " +
                     std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                     " lanes is none of Rooftile's: convert the tensor first");
}

DataType type_of(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return {row.code, row.bits, 1};
  }
  return {};
}

Result<rooftile::Device> device_from(const Device& device) {
  switch (device.device_type) {
    case kCpuMemory:
    case kCudaPinned:
      return kCpu;
    case kCudaMemory:
    case kCudaManaged:
      return cuda_device(device.device_id);
    default:
      return unsupported("the DLPack device type " + std::to_string(device.device_type) +
                         " is neither the CPU's nor CUDA's: copy the tensor first");
  }
}

// What was handed over, with the memory that its struct points to.
struct Handed {
  ManagedTensor managed{};
  Tensor tensor;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};
};

}  // namespace

Result<TensorView> view_of(const DLTensor& tensor) {
  return detail::guarded([&]() -> Result<TensorView> {
    if (tensor.ndim < 0 || tensor.ndim > kMaxRank || (tensor.ndim > 0 && tensor.shape == nullptr)) {
      return invalid_argument("a DLPack tensor of " + std::to_string(tensor.ndim) +
                              " dimensions: Rooftile takes 0 to " + std::to_string(kMaxRank));
    }
    ROOFTILE_TRY_ASSIGN(const DType dtype, dtype_from(tensor.dtype));
    ROOFTILE_TRY_ASSIGN(const rooftile::Device device, device_from(tensor.device));
    const auto rank = static_cast<std::size_t>(tensor.ndim);
    const Extents shape(std::span<const std::int64_t>(tensor.shape, rank));
    const Extents strides = tensor.strides == nullptr
                                ? contiguous_strides(shape)
                                : Extents(std::span<const std::int64_t>(tensor.strides, rank));
    void* const data =
        tensor.data == nullptr ? nullptr : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    const TensorView view{data, dtype, device, shape, strides};
    ROOFTILE_TRY(check_view(view, "the DLPack tensor"));
    return view;
  });
}

}  // namespace dlpack

Result<dlpack::ManagedTensor*> to_dlpack(Tensor tensor) {
  return detail::guarded([&]() -> Result<dlpack::ManagedTensor*> {
    auto handed = std::make_unique<dlpack::Handed>();
    handed->tensor = std::move(tensor);
    const TensorView view = handed->tensor.view();
    std::copy(view.shape.begin(), view.shape.end(), handed->shape.begin());
    std::copy(view.strides.begin(), view.strides.end(), handed->strides.begin());
    const bool on_gpu = view.device.kind == DeviceKind::cuda;
    handed->managed.dl_tensor = {
        view.data,
        {on_gpu ? dlpack::kCudaMemory : dlpack::kCpuMemory, on_gpu ? view.device.index : 0},
        view.rank(),
        dlpack::type_of(view.dtype),
        handed->shape.data(),
        handed->strides.data(),
        0};
    handed->managed.manager_ctx = handed.get();
    handed->managed.deleter = [](dlpack::ManagedTensor* self) {
      delete static_cast<dlpack::Handed*>(self->manager_ctx);
    };
    return &handed.release()->managed;
  });
}

}  // namespace rooftile
