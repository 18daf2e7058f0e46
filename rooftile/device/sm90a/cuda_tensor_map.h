// The CUDA side of make_tensor_map(): see tensor_map.h. The driver's function is asked for at run time, so
// that programs start without libcuda.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/core/tensor_map_spec.h"

namespace rooftile::detail {

inline CUtensorMapDataType tensor_map_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::i64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::u64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case DType::u32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case DType::i16:
    case DType::u16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::i8:
    case DType::u8:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

inline CUtensorMapSwizzle tensor_map_swizzle(TileSwizzle swizzle) {
  switch (swizzle) {
    case TileSwizzle::none:
      break;
    case TileSwizzle::bytes32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case TileSwizzle::bytes64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case TileSwizzle::bytes128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

inline CUtensorMapL2promotion tensor_map_promotion(L2Promotion promotion) {
  switch (promotion) {
    case L2Promotion::none:
      break;
    case L2Promotion::bytes64:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case L2Promotion::bytes128:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case L2Promotion::bytes256:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

// The driver's encoder, or why there is none.
struct TensorMapEncoder {
  PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  Status status;
};
inline TensorMapEncoder find_tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {nullptr, cuda_error_status(error, "asking the driver for cuTensorMapEncodeTiled")};
  }
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    return {nullptr,
            unavailable("the driver has no cuTensorMapEncodeTiled: tensor maps need CUDA 12.0 or newer")};
  }
  return {reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function), {}};
}

// Precondition: the spec has passed check_tensor_map().
inline Status encode_tensor_map(std::uint64_t (&bits)[16], const TensorMapSpec& spec) {
  static_assert(sizeof(bits) == sizeof(CUtensorMap));
  static const TensorMapEncoder encoder = find_tensor_map_encoder();
  ROOFTILE_TRY(encoder.status);

  std::array<cuuint64_t, kMaxTensorMapRank> extents{};
  std::array<cuuint64_t, kMaxTensorMapRank> stride_bytes{};  // of dimensions 1 and up
  std::array<cuuint32_t, kMaxTensorMapRank> box{};
  std::array<cuuint32_t, kMaxTensorMapRank> element_strides{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    extents[d] = static_cast<cuuint64_t>(spec.extents[d]);
    if (d > 0) stride_bytes[d - 1] = static_cast<cuuint64_t>(spec.strides[d]) * size_of(spec.dtype);
    box[d] = static_cast<cuuint32_t>(spec.box[d]);
    element_strides[d] = static_cast<cuuint32_t>(spec.element_strides[d]);
  }
  CUtensorMap map;
  const CUresult result = encoder.encode(
      &map, tensor_map_type(spec.dtype), static_cast<cuuint32_t>(spec.rank), spec.data, extents.data(),
      stride_bytes.data(), box.data(), element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      tensor_map_swizzle(spec.swizzle), tensor_map_promotion(spec.l2_promotion),
      spec.fill == OutOfBoundsFill::nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                        : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return invalid_argument("cuTensorMapEncodeTiled refused the tensor map (error " +
                            std::to_string(static_cast<int>(result)) + ")");
  }
  std::memcpy(bits, &map, sizeof(map));
  return {};
}

}  // namespace rooftile::detail
