// Tensor maps: made on the host by a rung's launcher, taken by kernels by value as
// `const __grid_constant__ TensorMap map`. What one says: core/tensor_map_spec.h.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/tensor_map_spec.h"
#include "rooftile/device/target.h"

#if !defined(ROOFTILE_SIM)
#include "rooftile/device/sm90a/cuda_tensor_map.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

#if defined(ROOFTILE_SIM)

struct TensorMap {
  TensorMapSpec spec;
};

[[nodiscard]] inline Status make_tensor_map(TensorMap& map, const TensorMapSpec& spec) {
  ROOFTILE_TRY(check_tensor_map(spec));
  map.spec = spec;
  return {};
}

#else

// The driver's own bits. Copied as an argument it stays where
// the hardware asks for it: in constant memory, aligned.
struct alignas(128) TensorMap {
  std::uint64_t bits[16];
};

// Thread-safe; some hundred nanoseconds. `spec.data` is memory of the current device.
[[nodiscard]] inline Status make_tensor_map(TensorMap& map, const TensorMapSpec& spec) {
  ROOFTILE_TRY(check_tensor_map(spec));
  return ::rooftile::detail::encode_tensor_map(map.bits, spec);
}

#endif

}  // namespace rooftile::ROOFTILE_TARGET
