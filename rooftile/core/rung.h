// What a rung is launched with, and how its functions are known to the operator's table.
//
// A rung is a file: rungs/rNNN_name.cu (a kernel) or rungs/cNNN_name.cpp (host code). It defines
//
//   namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
//   Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) { ... }
//   }
//
// where the build sets ROOFTILE_RUNG to the name in the file's name. The build also generates the operator's rungs.h,
// which declares that function for every target and gathers them as reduce_rungs::name for the row.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "rooftile/core/args.h"
#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

// How a rung cuts a call into blocks, in the operator's own type: decided once by the row's `plan`, read by the launch.
class PlanConfig {
 public:
  static constexpr std::size_t kBytes = 512;

  // Neither making nor copying touches bytes that nobody wrote: a call pays for what it uses.
  PlanConfig() {}  // NOLINT(modernize-use-equals-default): a default one would be zeroed
  PlanConfig(const PlanConfig& other) { *this = other; }
  PlanConfig& operator=(const PlanConfig& other) {
    if (this == &other) return *this;
    size_ = other.size_;
    std::memcpy(bytes_.data(), other.bytes_.data(), size_);
    return *this;
  }
  template <class Config>
  static PlanConfig of(const Config& config) {
    static_assert(std::is_trivially_copyable_v<Config> && sizeof(Config) <= kBytes && alignof(Config) <= 16,
                  "a configuration is a small struct of numbers");
    PlanConfig plan;
    std::memcpy(plan.bytes_.data(), &config, sizeof(Config));
    plan.size_ = sizeof(Config);
    return plan;
  }
  // Precondition: made from the same Config.
  template <class Config>
  [[nodiscard]] const Config& as() const {
    assert(size_ == sizeof(Config));
    return *reinterpret_cast<const Config*>(bytes_.data());
  }

 private:
  alignas(16) std::array<std::byte, kBytes> bytes_;
  std::size_t size_ =
      0;  // all that is checked: addresses differ between a program and its instrumented kernels
};

// What a rung needs for one call.
struct RungPlan {
  WorkspaceSpec workspace{};
  PlanConfig config{};
};

// One launch. Enqueues: no allocation, no synchronisation on cuda.
struct AnyCall {
  StreamRef stream;
  const DeviceProperties* device = nullptr;
  ArgsRef args;
  const RungPlan* plan = nullptr;
  Workspace workspace;
};

template <class Args>
struct Call {
  StreamRef stream;
  const DeviceProperties& device;
  const Args& args;
  const Workspace& workspace;
  const RungPlan& plan;

  template <class Config>
  [[nodiscard]] const Config& config() const {
    return plan.config.as<Config>();
  }
};

enum class RungKind {
  gpu,  // a kernel: runs on cuda and on the simulated SM
  cpu,  // host code
};

// The arch a kernel is written for: `minimum` 0 runs anywhere; `exact` means the arch-specific target (sm_90a).
struct ArchNeed {
  int minimum = 0;
  bool exact = false;
};

template <class Args>
using LaunchFunction = Status (*)(const Call<Args>&);

// A rung's functions, one per target; null: not built into this program.
template <class Args>
struct RungFunctions {
  std::string_view name;
  RungKind kind = RungKind::gpu;
  bool absent = false;  // described, and left out of this build
  ArchNeed arch{};
  LaunchFunction<Args> cuda = nullptr;
  LaunchFunction<Args> sim = nullptr;
  LaunchFunction<Args> cpu = nullptr;
  LaunchFunction<Args> checked = nullptr;  // the simulated SM with instrumented accesses: for the lab alone
};

// A CPU rung of a few lines that stands beside the table.
template <class Args>
constexpr RungFunctions<Args> cpu_rung(std::string_view name, LaunchFunction<Args> function) {
  return {.name = name, .kind = RungKind::cpu, .cpu = function};
}

}  // namespace rooftile

// Used by the generated rungs.h. The simulated targets are weak: a program that does not link them (the installed
// library) has null there. The CUDA target is not weak, because a weak reference would not pull its object out of a
// static library. ROOFTILE_KERNELS_ABSENT: a build that describes the operator without its rungs.
#define ROOFTILE_DECLARE_LAUNCH_(attribute, target, op, Args, name)                    \
  namespace rooftile::target::op##_rungs {                                             \
    attribute ::rooftile::Status name(const ::rooftile::Call<::rooftile::Args>& call); \
  }
#define ROOFTILE_RUNG_FUNCTIONS_(op, Args, rung, ...)                                                 \
  namespace rooftile::op##_rungs {                                                                    \
    inline constexpr ::rooftile::RungFunctions<::rooftile::Args> rung = {.name = #rung, __VA_ARGS__}; \
  }
#define ROOFTILE_DECLARE_SIM_(op, Args, name)                                        \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]] __attribute__((weak)), sim, op, Args, name) \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]] __attribute__((weak)), checked, op, Args, name)

#if defined(ROOFTILE_KERNELS_ABSENT)
#define ROOFTILE_GPU_RUNG(op, Args, rung, least, is_exact)                                    \
  ROOFTILE_RUNG_FUNCTIONS_(op, Args, rung, .kind = ::rooftile::RungKind::gpu, .absent = true, \
                           .arch = {.minimum = least, .exact = is_exact})
#define ROOFTILE_CPU_RUNG(op, Args, rung) \
  ROOFTILE_RUNG_FUNCTIONS_(op, Args, rung, .kind = ::rooftile::RungKind::cpu, .absent = true)
#else
#if defined(ROOFTILE_WITH_CUDA)
#define ROOFTILE_CUDA_FUNCTION_(op, name) &::rooftile::cuda::op##_rungs::name
#define ROOFTILE_DECLARE_CUDA_(op, Args, name) ROOFTILE_DECLARE_LAUNCH_([[nodiscard]], cuda, op, Args, name)
#else
#define ROOFTILE_CUDA_FUNCTION_(op, name) nullptr
#define ROOFTILE_DECLARE_CUDA_(op, Args, name)
#endif
#define ROOFTILE_GPU_RUNG(op, Args, rung, least, is_exact)                                              \
  ROOFTILE_DECLARE_CUDA_(op, Args, rung)                                                                \
  ROOFTILE_DECLARE_SIM_(op, Args, rung)                                                                 \
  ROOFTILE_RUNG_FUNCTIONS_(                                                                             \
      op, Args, rung, .kind = ::rooftile::RungKind::gpu, .arch = {.minimum = least, .exact = is_exact}, \
      .cuda = ROOFTILE_CUDA_FUNCTION_(op, rung), .sim = &::rooftile::sim::op##_rungs::rung,             \
      .checked = &::rooftile::checked::op##_rungs::rung)
#define ROOFTILE_CPU_RUNG(op, Args, rung)                                     \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]], cpu, op, Args, rung)                \
  ROOFTILE_RUNG_FUNCTIONS_(op, Args, rung, .kind = ::rooftile::RungKind::cpu, \
                           .cpu = &::rooftile::cpu::op##_rungs::rung)
#endif
