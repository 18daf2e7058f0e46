#include "rooftile/lab/time/ceilings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/core/memory.h"
#include "rooftile/lab/time/arithmetic.h"
#include "rooftile/lab/time/gpu_clock.h"
#include "rooftile/lab/time/l2_ceiling.h"
#include "rooftile/lab/time/statistics.h"
#include "rooftile/lab/time/stream_bound.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {
namespace {

constexpr double kHostStreamBytes = 256.0 * 1024 * 1024;
constexpr double kGpuStreamBytes = 1024.0 * 1024 * 1024;
constexpr double kArithmeticFlops = 2e11;  // at least a fifth of a millisecond
constexpr int kL2Passes = 32;
constexpr std::size_t kL2Share = 4;  // of the cache: a half that is local to an SM holds it twice
constexpr std::size_t kSinkBytes = 256;

// The median time of each launch, in microseconds.
Result<std::vector<double>> median_times(StreamRef stream, const DeviceProperties& device,
                                         const std::vector<TimedLaunch>& launches, TimeMode mode) {
  TimingOptions options;
  options.mode = mode;
  options.min_rounds = 10;
  options.first_look = options.max_rounds = 30;
  options.budget_s = 1.0;
  ROOFTILE_TRY_ASSIGN(const std::vector<TimeSeries> series,
                      time_interleaved(stream, device, launches, options, nullptr, nullptr));
  std::vector<double> medians;
  for (const TimeSeries& one : series) {
    ROOFTILE_TRY(one.status);
    medians.push_back(summarize(one.samples_us).median);
  }
  return medians;
}

Status measure_streaming(StreamRef stream, const DeviceProperties& device, std::vector<Ceiling>& ceilings) {
  const double bytes = device.device.kind == DeviceKind::cuda ? kGpuStreamBytes : kHostStreamBytes;
  struct Mix {
    const char* name;
    double read;
    double write;
  };
  const std::array<Mix, 3> mixes = {
      {{"read", bytes, 0.0}, {"write", 0.0, bytes}, {"copy", bytes / 2, bytes / 2}}};
  std::vector<StreamBound> bounds;
  for (const Mix& mix : mixes) {
    ROOFTILE_TRY_ASSIGN(StreamBound bound, StreamBound::create(stream, mix.read, mix.write));
    bounds.push_back(std::move(bound));
  }
  std::vector<TimedLaunch> launches;
  std::vector<std::size_t> mix_of;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (const StreamAccess access : bounds[i].accesses()) {
      launches.push_back({[&bound = bounds[i], stream, access] { return bound.launch(stream, access); }});
      mix_of.push_back(i);
    }
  }
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us,
                      median_times(stream, device, launches, TimeMode::stream_cold));
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    double fastest_us = 0.0;
    for (std::size_t k = 0; k < us.size(); ++k) {
      if (mix_of[k] == i && us[k] > 0.0 && (fastest_us == 0.0 || us[k] < fastest_us)) fastest_us = us[k];
    }
    const double work = bounds[i].bytes();
    ceilings.push_back({mixes[i].name, "GB/s", fastest_us > 0.0 ? work / fastest_us * 1e-3 : 0.0, work,
                        device.peak_bandwidth_gbps, fastest_us > 0.0 ? "" : "the clock did not advance"});
  }
  return {};
}

Status measure_l2(StreamRef stream, const DeviceProperties& device, std::vector<Ceiling>& ceilings) {
  constexpr std::size_t kVectorBytes = 16;
  const std::size_t bytes = device.last_level_cache / kL2Share / kVectorBytes * kVectorBytes;
  ROOFTILE_TRY_ASSIGN(const DeviceMemory source, DeviceMemory::allocate(stream.device, bytes));
  ROOFTILE_TRY_ASSIGN(const DeviceMemory sink, DeviceMemory::allocate(stream.device, kSinkBytes));
  if (bytes > 0) ROOFTILE_TRY(fill_bytes(stream, source.data(), 0x01, bytes));
  const auto launch = [&] {
    return l2_ceiling_cuda(stream, device.multiprocessors, source.data(), bytes, kL2Passes, sink.data());
  };
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us,
                      median_times(stream, device, {{launch}}, TimeMode::stream_hot));
  const double read = static_cast<double>(bytes) * kL2Passes;
  ceilings.push_back({"l2_read", "GB/s", us[0] > 0.0 ? read / us[0] * 1e-3 : 0.0, read, 0.0,
                      bytes > 0 && us[0] > 0.0 ? "" : "the size of the L2 is not known"});
  return {};
}

double datasheet_tflops(Arithmetic arithmetic, const DeviceProperties& device) {
  if (arithmetic != Arithmetic::fma_f32 && arithmetic != Arithmetic::fma_f64)
    return datasheet_tensor_tflops(device.compute_capability, device.multiprocessors, arithmetic);
  const Result<double> clock = rated_sm_clock_mhz(device.device);
  if (!clock.ok()) return 0.0;
  return datasheet_fma_tflops(device.compute_capability, device.multiprocessors, *clock, arithmetic);
}

Status measure_arithmetic(StreamRef stream, const DeviceProperties& device, std::vector<Ceiling>& ceilings) {
  ROOFTILE_TRY_ASSIGN(const DeviceMemory sink, DeviceMemory::allocate(stream.device, kSinkBytes));
  for (const Arithmetic arithmetic : kAllArithmetic) {
    Ceiling ceiling{.name = std::string(to_string(arithmetic)),
                    .unit = "TFLOP/s",
                    .datasheet = datasheet_tflops(arithmetic, device),
                    .reason = std::string(why_not(arithmetic, device.compute_capability))};
    if (ceiling.reason.empty()) {
      const double round = flops_per_round(arithmetic, device.multiprocessors);
      const int rounds = static_cast<int>(kArithmeticFlops / round) + 1;
      const auto launch = [&] {
        return arithmetic_cuda(stream, arithmetic, device.multiprocessors, rounds, sink.data());
      };
      ROOFTILE_TRY_ASSIGN(const std::vector<double> us,
                          median_times(stream, device, {{launch}}, TimeMode::sustained));
      ceiling.work = rounds * round;
      if (us[0] > 0.0)
        ceiling.value = ceiling.work / us[0] * 1e-6;
      else
        ceiling.reason = "the clock did not advance";
    }
    ceilings.push_back(std::move(ceiling));
  }
  return {};
}

}  // namespace

double datasheet_fma_tflops(int compute_capability, int multiprocessors, double clock_mhz,
                            Arithmetic arithmetic) {
  struct Lanes {
    int f32 = 0;
    int f64 = 0;
  };
  Lanes lanes;  // of an SM
  switch (compute_capability) {
    case 70:
      lanes = {64, 32};
      break;
    case 72:
    case 75:
      lanes = {64, 2};
      break;
    case 80:
      lanes = {64, 32};
      break;
    case 86:
    case 87:
    case 89:
    case 120:
      lanes = {128, 2};
      break;
    case 90:
    case 100:
      lanes = {128, 64};
      break;
    case 103:
      lanes = {128, 2};
      break;
    default:
      return 0.0;
  }
  return 2.0 * (arithmetic == Arithmetic::fma_f64 ? lanes.f64 : lanes.f32) * multiprocessors * clock_mhz *
         1e-6;
}

double datasheet_tensor_tflops(int compute_capability, int multiprocessors, Arithmetic arithmetic) {
  double bf16_per_sm = 0;
  double f64_per_sm = 0;
  if (compute_capability == 80) {  // A100
    bf16_per_sm = 312.0 / 108;
    f64_per_sm = 19.5 / 108;
  }
  if (compute_capability == 90) {  // H100 and H200, SXM
    bf16_per_sm = 989.4 / 132;
    f64_per_sm = 66.9 / 132;
  }
  switch (arithmetic) {
    case Arithmetic::fma_f32:
    case Arithmetic::fma_f64:
      return 0.0;
    case Arithmetic::mma_sync_bf16:
    case Arithmetic::wgmma_bf16:
    case Arithmetic::wgmma_f16:
      return bf16_per_sm * multiprocessors;
    case Arithmetic::wgmma_tf32:
      return bf16_per_sm / 2 * multiprocessors;
    case Arithmetic::wgmma_f8e4m3:
      return compute_capability == 80 ? 0.0 : bf16_per_sm * 2 * multiprocessors;
    case Arithmetic::mma_sync_f64:
      return f64_per_sm * multiprocessors;
  }
  return 0.0;
}

Result<std::vector<Ceiling>> measure_ceilings(Device device) {
  if (device.kind == DeviceKind::sim) return unsupported("the simulated SM has no time");
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  ROOFTILE_TRY_ASSIGN(const Stream stream, Stream::create(device));
  std::vector<Ceiling> ceilings;
  ROOFTILE_TRY(measure_streaming(stream.ref(), *properties, ceilings));
  if (device.kind == DeviceKind::cuda) {
    ROOFTILE_TRY(measure_l2(stream.ref(), *properties, ceilings));
    ROOFTILE_TRY(measure_arithmetic(stream.ref(), *properties, ceilings));
  }
  return ceilings;
}

}  // namespace rooftile::lab
