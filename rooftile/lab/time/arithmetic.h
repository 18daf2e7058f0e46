// Kernels that multiply and add and do nothing else: what a GPU's arithmetic reaches on normally distributed numbers, on
// which it draws more power, and may be slower, than on zeros or on one number repeated.
#pragma once

#include <array>
#include <string_view>

#include "rooftile/core/case.h"
#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

// Products of matrices accumulate in f32, those of f64 in f64.
enum class Arithmetic {
  fma_f32,
  fma_f64,
  mma_sync_bf16,  // m16n8k16 from registers; on Hopper two thirds of what wgmma reaches
  mma_sync_f64,   // m16n8k16
  wgmma_bf16,     // m64n256 from shared memory, which alone reaches Hopper's peak
  wgmma_f16,
  wgmma_tf32,
  wgmma_f8e4m3,
};
inline constexpr std::array kAllArithmetic = {
    Arithmetic::fma_f32,    Arithmetic::fma_f64,   Arithmetic::mma_sync_bf16, Arithmetic::mma_sync_f64,
    Arithmetic::wgmma_bf16, Arithmetic::wgmma_f16, Arithmetic::wgmma_tf32,    Arithmetic::wgmma_f8e4m3};
[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);  // "wgmma_bf16"

// Empty, or why a GPU of this compute capability has no such instruction.
[[nodiscard]] std::string_view why_not(Arithmetic arithmetic, int compute_capability);

// The fastest that a GPU has for this unit, or why there is none.
[[nodiscard]] Result<Arithmetic> fastest_arithmetic(FlopUnit unit, const DeviceProperties& device);

// Enqueues `rounds` rounds on every SM, no operand of which leaves the SM. The sink holds 8 bytes.
[[nodiscard]] Status arithmetic_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds,
                                     void* sink);
// Operations of one round on all SMs, 2 per multiply-add.
[[nodiscard]] double flops_per_round(Arithmetic arithmetic, int multiprocessors);

}  // namespace rooftile::lab
