#include "rooftile/lab/time/arithmetic.h"

#include <fmt/format.h>

#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::lab {
namespace {

constexpr int kMmaSync = 80;  // compute capability from which mma.sync takes bf16
constexpr int kHopper = 90;   // the only one with wgmma, and the first with large products of f64

bool is_hopper_only(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::fma_f32:
    case Arithmetic::fma_f64:
    case Arithmetic::mma_sync_bf16:
      return false;
    case Arithmetic::mma_sync_f64:
    case Arithmetic::wgmma_bf16:
    case Arithmetic::wgmma_f16:
    case Arithmetic::wgmma_tf32:
    case Arithmetic::wgmma_f8e4m3:
      return true;
  }
  return true;
}

int item_bytes(Arithmetic wgmma) {
  if (wgmma == Arithmetic::wgmma_tf32) return 4;
  return wgmma == Arithmetic::wgmma_f8e4m3 ? 1 : 2;
}

// The first that a GPU has is taken.
std::vector<Arithmetic> arithmetic_of(FlopUnit unit) {
  switch (unit) {
    case FlopUnit::none:
      return {};
    case FlopUnit::fma_f32:
      return {Arithmetic::fma_f32};
    case FlopUnit::fma_f64:
      return {Arithmetic::fma_f64};
    case FlopUnit::tensor_bf16:
      return {Arithmetic::wgmma_bf16, Arithmetic::mma_sync_bf16};
    case FlopUnit::tensor_f16:
      return {Arithmetic::wgmma_f16};
    case FlopUnit::tensor_tf32:
      return {Arithmetic::wgmma_tf32};
    case FlopUnit::tensor_f8e4m3:
      return {Arithmetic::wgmma_f8e4m3};
    case FlopUnit::tensor_f64:
      return {Arithmetic::mma_sync_f64};
  }
  return {};
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::fma_f32:
      return "fma_f32";
    case Arithmetic::fma_f64:
      return "fma_f64";
    case Arithmetic::mma_sync_bf16:
      return "mma_sync_bf16";
    case Arithmetic::mma_sync_f64:
      return "mma_sync_f64";
    case Arithmetic::wgmma_bf16:
      return "wgmma_bf16";
    case Arithmetic::wgmma_f16:
      return "wgmma_f16";
    case Arithmetic::wgmma_tf32:
      return "wgmma_tf32";
    case Arithmetic::wgmma_f8e4m3:
      return "wgmma_f8e4m3";
  }
  return "fma_f32";
}

std::string_view why_not(Arithmetic arithmetic, int compute_capability) {
  if (is_hopper_only(arithmetic) && compute_capability != kHopper) return "measured on sm_90 alone";
  if (arithmetic == Arithmetic::mma_sync_bf16 && compute_capability < kMmaSync) {
    return "its tensor cores, if it has any, do not take bf16";
  }
  return "";
}

Result<Arithmetic> fastest_arithmetic(FlopUnit unit, const DeviceProperties& device) {
  if (device.device.kind != DeviceKind::cuda)
    return unsupported(
        fmt::format("operations per second are measured on GPUs, not on {}", to_string(device.device)));
  for (const Arithmetic arithmetic : arithmetic_of(unit)) {
    if (why_not(arithmetic, device.compute_capability).empty()) return arithmetic;
  }
  return unsupported(fmt::format("no kernel measures {} on {}", to_string(unit), device.name));
}

Status arithmetic_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds, void* sink) {
  if (is_hopper_only(arithmetic)) return hopper_cuda(stream, arithmetic, multiprocessors, rounds, sink);
  return arithmetic == Arithmetic::mma_sync_bf16
             ? mma_sync_bf16_cuda(stream, multiprocessors, rounds, sink)
             : fma_cuda(stream, arithmetic, multiprocessors, rounds, sink);
}

double flops_per_round(Arithmetic arithmetic, int multiprocessors) {
  const double sms = multiprocessors;
  switch (arithmetic) {
    case Arithmetic::fma_f32:
    case Arithmetic::fma_f64:
      return 2.0 * FmaShape::kChains * FmaShape::kBlock * FmaShape::kBlocksPerSm * sms;
    case Arithmetic::mma_sync_bf16:
    case Arithmetic::mma_sync_f64:
      return 2.0 * MmaSyncShape::kProducts * MmaSyncShape::kChains * (MmaSyncShape::kBlock / 32.0) *
             MmaSyncShape::kBlocksPerSm * sms;
    case Arithmetic::wgmma_bf16:
    case Arithmetic::wgmma_f16:
    case Arithmetic::wgmma_tf32:
    case Arithmetic::wgmma_f8e4m3: {
      const int k = WgmmaShape::kDepthBytes / item_bytes(arithmetic);
      return 2.0 * WgmmaShape::kM * WgmmaShape::kN * k * WgmmaShape::kTilesOfB * WgmmaShape::kWarpgroups *
             sms;
    }
  }
  return 0;
}

}  // namespace rooftile::lab
