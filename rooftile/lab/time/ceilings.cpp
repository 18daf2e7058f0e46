#include "rooftile/lab/time/ceilings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/core/memory.h"
#include "rooftile/lab/time/gpu_ceilings.h"
#include "rooftile/lab/time/gpu_clock.h"
#include "rooftile/lab/time/statistics.h"
#include "rooftile/lab/time/stream_bound.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {
namespace {

constexpr double kHostStreamBytes = 256.0 * 1024 * 1024;
constexpr double kGpuStreamBytes = 1024.0 * 1024 * 1024;
constexpr int kFmaRounds = 4096;  // about a quarter of a millisecond
constexpr int kL2Passes = 32;
constexpr std::size_t kL2Share = 4;  // of the cache: a half that is local to an SM holds it twice
constexpr std::size_t kSinkBytes = 256;
constexpr int kMmaSync = 80;  // compute capability from which mma.sync takes bf16
constexpr int kWgmma = 90;    // the only one with wgmma
constexpr int kMmaSyncRounds = 4096;
constexpr int kWgmmaRounds = 4096;  // about two milliseconds
constexpr std::array<TensorInput, 3> kTensorInputs = {TensorInput::bf16, TensorInput::f8e4m3,
                                                      TensorInput::tf32};

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

Status measure_compute(StreamRef stream, const DeviceProperties& device, std::vector<Ceiling>& ceilings) {
  constexpr std::size_t kVectorBytes = 16;
  const std::size_t bytes = device.last_level_cache / kL2Share / kVectorBytes * kVectorBytes;
  ROOFTILE_TRY_ASSIGN(const DeviceMemory source, DeviceMemory::allocate(stream.device, bytes));
  ROOFTILE_TRY_ASSIGN(const DeviceMemory sink, DeviceMemory::allocate(stream.device, kSinkBytes));
  if (bytes > 0) ROOFTILE_TRY(fill_bytes(stream, source.data(), 0x01, bytes));
  double flops = 0;
  const std::vector<TimedLaunch> launches = {
      {[&] {
        return l2_ceiling_cuda(stream, device.multiprocessors, source.data(), bytes, kL2Passes, sink.data());
      }},
      {[&] {
        return fma_ceiling_cuda(stream, device.multiprocessors, kFmaRounds, static_cast<float*>(sink.data()),
                                &flops);
      }}};
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us,
                      median_times(stream, device, launches, TimeMode::stream_hot));
  const double read = static_cast<double>(bytes) * kL2Passes;
  ceilings.push_back({"l2_read", "GB/s", us[0] > 0.0 ? read / us[0] * 1e-3 : 0.0, read, 0.0,
                      bytes > 0 && us[0] > 0.0 ? "" : "the size of the L2 is not known"});
  const Result<double> clock = rated_sm_clock_mhz(device.device);
  ceilings.push_back(
      {"fma_f32", "TFLOP/s", us[1] > 0.0 ? flops / us[1] * 1e-6 : 0.0, flops,
       clock.ok() ? datasheet_fma_tflops(device.compute_capability, device.multiprocessors, *clock) : 0.0,
       us[1] > 0.0 ? "" : "the clock did not advance"});
  return {};
}

std::string tensor_name(std::string_view instruction, TensorInput input) {
  return std::string(instruction) + "_" + std::string(to_string(input));
}

// wgmma where it exists, and mma.sync beside it: what a
// kernel gives up that stays with the older instruction.
Status measure_tensor_cores(StreamRef stream, const DeviceProperties& device,
                            std::vector<Ceiling>& ceilings) {
  const int sms = device.multiprocessors;
  if (device.compute_capability < kMmaSync) {
    ceilings.push_back({tensor_name("mma_sync", TensorInput::bf16), "TFLOP/s", 0.0, 0.0, 0.0,
                        "its tensor cores, if it has any, do not take bf16"});
    return {};
  }
  ROOFTILE_TRY_ASSIGN(const DeviceMemory memory, DeviceMemory::allocate(stream.device, kSinkBytes));
  auto* sink = static_cast<float*>(memory.data());
  std::vector<TensorInput> inputs = {TensorInput::bf16};
  std::vector<std::string> names = {tensor_name("mma_sync", TensorInput::bf16)};
  std::vector<double> flops(1 + kTensorInputs.size());
  std::vector<TimedLaunch> launches = {
      {[&] { return mma_sync_ceiling_cuda(stream, sms, kMmaSyncRounds, sink, &flops[0]); }}};
  if (device.compute_capability == kWgmma) {
    for (std::size_t i = 0; i < kTensorInputs.size(); ++i) {
      inputs.push_back(kTensorInputs[i]);
      names.push_back(tensor_name("wgmma", kTensorInputs[i]));
      launches.push_back({[&flops, stream, sms, sink, i] {
        return wgmma_ceiling_cuda(stream, kTensorInputs[i], sms, kWgmmaRounds, sink, &flops[i + 1]);
      }});
    }
  }
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us,
                      median_times(stream, device, launches, TimeMode::stream_hot));
  for (std::size_t i = 0; i < us.size(); ++i) {
    ceilings.push_back({names[i], "TFLOP/s", us[i] > 0.0 ? flops[i] / us[i] * 1e-6 : 0.0, flops[i],
                        datasheet_tensor_tflops(device.compute_capability, sms, inputs[i]),
                        us[i] > 0.0 ? "" : "the clock did not advance"});
  }
  return {};
}

}  // namespace

double datasheet_fma_tflops(int compute_capability, int multiprocessors, double clock_mhz) {
  int cores = 0;  // f32 lanes per SM
  switch (compute_capability) {
    case 70:
    case 72:
    case 75:
    case 80:
      cores = 64;
      break;
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 120:
      cores = 128;
      break;
    default:
      return 0.0;
  }
  return 2.0 * cores * multiprocessors * clock_mhz * 1e-6;
}

double datasheet_tensor_tflops(int compute_capability, int multiprocessors, TensorInput input) {
  double bf16_per_sm = 0;
  if (compute_capability == 80) bf16_per_sm = 312.0 / 108;                   // A100
  if (compute_capability == 90) bf16_per_sm = 989.4 / 132;                   // H100 and H200, SXM
  if (compute_capability == 80 && input == TensorInput::f8e4m3) return 0.0;  // it has none
  const double factor = input == TensorInput::bf16 ? 1.0 : input == TensorInput::f8e4m3 ? 2.0 : 0.5;
  return factor * bf16_per_sm * multiprocessors;
}

std::string_view to_string(TensorInput input) {
  switch (input) {
    case TensorInput::bf16:
      return "bf16";
    case TensorInput::f8e4m3:
      return "f8e4m3";
    case TensorInput::tf32:
      return "tf32";
  }
  return "bf16";
}

Result<std::vector<Ceiling>> measure_ceilings(Device device) {
  if (device.kind == DeviceKind::sim) return unsupported("the simulated SM has no time");
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  ROOFTILE_TRY_ASSIGN(const Stream stream, Stream::create(device));
  std::vector<Ceiling> ceilings;
  ROOFTILE_TRY(measure_streaming(stream.ref(), *properties, ceilings));
  if (device.kind == DeviceKind::cuda) {
    ROOFTILE_TRY(measure_compute(stream.ref(), *properties, ceilings));
    ROOFTILE_TRY(measure_tensor_cores(stream.ref(), *properties, ceilings));
  }
  return ceilings;
}

}  // namespace rooftile::lab
