// Floats whose dtype is known at run time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/types.h"

namespace rooftile::ROOFTILE_TARGET {

// Elements of f64, f32, f16 or bf16.
struct RealOutput {
  void* data = nullptr;
  DType dtype = DType::f32;

  // Rounds once, to nearest even. Value: float or double.
  template <class Value>
  __device__ __forceinline__ void store(std::int64_t i, Value value) const {
    constexpr bool kDouble = std::is_same_v<Value, double>;
    static_assert(kDouble || std::is_same_v<Value, float>, "rounded once");
    switch (dtype) {
      case DType::f64:
        static_cast<double*>(data)[i] = value;
        break;
      case DType::f16:
        static_cast<__half*>(data)[i] = kDouble ? __double2half(value) : __float2half_rn(value);
        break;
      case DType::bf16:
        static_cast<__nv_bfloat16*>(data)[i] =
            kDouble ? __double2bfloat16(value) : __float2bfloat16_rn(value);
        break;
      default:
        static_cast<float*>(data)[i] = static_cast<float>(value);
        break;
    }
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
