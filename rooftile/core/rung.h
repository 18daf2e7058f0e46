// How an operator declares its kernels, once per rung, for every target that may be linked in.
//
//   ROOFTILE_RUNG(reduce, ReduceArgs, warp_shuffle);               in rungs.h
//   .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, warp_shuffle)  in the row
//
// The functions live in rooftile::<target>::<operator>_rungs. The simulated targets are weak: a program that
// does not link them (the installed library) has null there and lists the rung as not built for `sim`. The
// CUDA target is not weak, because a weak reference would not pull its object out of a static library.
#pragma once

#include "rooftile/core/operator.h"

#define ROOFTILE_DECLARE_LAUNCH_(attribute, target, op, Args, name)                                          \
  namespace rooftile::target::op##_rungs {                                                                   \
    attribute ::rooftile::Status name(::rooftile::StreamRef stream,                                          \
                                      const ::rooftile::DeviceProperties& device,                            \
                                      const ::rooftile::Args& args, const ::rooftile::Workspace& workspace); \
  }

#define ROOFTILE_DECLARE_SIM_LAUNCHES_(op, Args, name)                               \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]] __attribute__((weak)), sim, op, Args, name) \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]] __attribute__((weak)), checked, op, Args, name)

#if defined(ROOFTILE_WITH_CUDA)
#define ROOFTILE_RUNG(op, Args, name)                           \
  ROOFTILE_DECLARE_LAUNCH_([[nodiscard]], cuda, op, Args, name) \
  ROOFTILE_DECLARE_SIM_LAUNCHES_(op, Args, name)
#define ROOFTILE_CUDA_LAUNCH_(op, Args, name) \
  ::rooftile::erase<::rooftile::Args>(&::rooftile::cuda::op##_rungs::name)
#else
#define ROOFTILE_RUNG(op, Args, name) ROOFTILE_DECLARE_SIM_LAUNCHES_(op, Args, name)
#define ROOFTILE_CUDA_LAUNCH_(op, Args, name) ::rooftile::LaunchFn()
#endif

// CPU rungs are plain host functions of rooftile::cpu.
#define ROOFTILE_CPU_RUNG(op, Args, name) ROOFTILE_DECLARE_LAUNCH_([[nodiscard]], cpu, op, Args, name)

#define ROOFTILE_GPU_LAUNCHES(op, Args, name)                                                  \
  ::rooftile::TargetLaunches {                                                                 \
    .cuda = ROOFTILE_CUDA_LAUNCH_(op, Args, name),                                             \
    .sim = ::rooftile::erase<::rooftile::Args>(&::rooftile::sim::op##_rungs::name), .cpu = {}, \
    .checked = ::rooftile::erase<::rooftile::Args>(&::rooftile::checked::op##_rungs::name)     \
  }
#define ROOFTILE_CPU_LAUNCHES(op, Args, name)                                                              \
  ::rooftile::TargetLaunches {                                                                             \
    .cuda = {}, .sim = {}, .cpu = ::rooftile::erase<::rooftile::Args>(&::rooftile::cpu::op##_rungs::name), \
    .checked = {}                                                                                          \
  }
