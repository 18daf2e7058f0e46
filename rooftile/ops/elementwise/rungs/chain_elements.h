// Packs as elements of what a chain computes in, and back: the dtype is known at run time, and all threads branch alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/ops/elementwise/elementwise_functor.h"
#include "rooftile/ops/elementwise/rungs/element_types.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

using elementwise_engine::element_of;
using elementwise_engine::RawPack;
using elementwise_engine::set_elements;

// Whether a call may have tensors of T: a pack has 16 bytes, and f32 is not what wide types are computed in
// (elementwise_program::compute_of).
template <class T, class Acc, int kPack>
inline constexpr bool kOccurs = sizeof(T) * kPack <= sizeof(RawPack) &&
                                (!std::is_same_v<Acc, float> || sizeof(T) < 4 || std::is_same_v<T, float>);

// Packs of kPack elements of T.
template <class T, int kPack, class Acc, int kUnroll>
__device__ __forceinline__ void decode_as(const RawPack (&raw)[kUnroll], Acc (&x)[kUnroll * kPack]) {
  if constexpr (kOccurs<T, Acc, kPack> && (std::is_floating_point_v<Acc> || std::is_integral_v<T>)) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) x[u * kPack + j] = static_cast<Acc>(widened(element_of<T>(raw[u], j)));
    }
  }
}
template <class T, int kPack, class Acc, int kUnroll>
__device__ __forceinline__ void encode_as(const Acc (&x)[kUnroll * kPack], RawPack (&raw)[kUnroll]) {
  if constexpr (kOccurs<T, Acc, kPack>) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      raw[u] = {};
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        const T element = narrowed<T>(x[u * kPack + j]);
        set_elements(raw[u], j, element, sizeof(T));
      }
    }
  }
}

// Calls body.operator()<T>() with the element type of a dtype.
template <class Body>
__device__ __forceinline__ void with_element(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f64:
      return body.template operator()<double>();
    case DType::f32:
      return body.template operator()<float>();
    case DType::f16:
      return body.template operator()<__half>();
    case DType::bf16:
      return body.template operator()<__nv_bfloat16>();
    case DType::f8e4m3:
      return body.template operator()<E4m3>();
    case DType::f8e5m2:
      return body.template operator()<E5m2>();
    case DType::i8:
      return body.template operator()<std::int8_t>();
    case DType::i16:
      return body.template operator()<std::int16_t>();
    case DType::i32:
      return body.template operator()<std::int32_t>();
    case DType::i64:
      return body.template operator()<std::int64_t>();
    case DType::u8:
      return body.template operator()<std::uint8_t>();
    case DType::u16:
      return body.template operator()<std::uint16_t>();
    case DType::u32:
      return body.template operator()<std::uint32_t>();
    case DType::u64:
      return body.template operator()<std::uint64_t>();
  }
}

template <int kPack, class Acc, int kUnroll>
__device__ __forceinline__ void decode(DType dtype, const RawPack (&raw)[kUnroll],
                                       Acc (&x)[kUnroll * kPack]) {
  with_element(dtype, [&]<class T>() { decode_as<T, kPack>(raw, x); });
}
template <int kPack, class Acc, int kUnroll>
__device__ __forceinline__ void encode(DType dtype, const Acc (&x)[kUnroll * kPack],
                                       RawPack (&raw)[kUnroll]) {
  with_element(dtype, [&]<class T>() { encode_as<T, kPack>(x, raw); });
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
