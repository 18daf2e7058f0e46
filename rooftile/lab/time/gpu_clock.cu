// %globaltimer counts nanoseconds whatever the SM does, clock64 the SM's own cycles. The timer advances in
// steps of up to about a microsecond: a span of 2 ms makes that a thousandth.
#include "rooftile/lab/time/gpu_clock.h"

#include <cstdint>

#include "rooftile/core/memory.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

constexpr double kClockSpanUs = 2000.0;

struct ClockReading {
  long long cycles;
  unsigned long long ns;
};

__device__ unsigned long long global_ns() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void spin_kernel(unsigned long long span_ns, ClockReading* g_reading) {
  const unsigned long long start_ns = global_ns();
  const long long start = clock64();
  unsigned long long now_ns = start_ns;
  while (now_ns - start_ns < span_ns) now_ns = global_ns();
  const long long stop = clock64();
  if (g_reading != nullptr) *g_reading = {stop - start, now_ns - start_ns};
}

Status spin(StreamRef stream, double us, ClockReading* g_reading) {
  const auto ns = static_cast<unsigned long long>(us * 1e3);
  return launch(spin_kernel, LaunchConfig{.stream = stream}, ns, g_reading);
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

using rooftile::ROOFTILE_TARGET::ClockReading;

Status spin_cuda(StreamRef stream, double us) { return rooftile::ROOFTILE_TARGET::spin(stream, us, nullptr); }

Result<double> sm_clock_mhz(StreamRef stream) {
  ROOFTILE_TRY_ASSIGN(const DeviceMemory memory, DeviceMemory::allocate(stream.device, sizeof(ClockReading)));
  auto* g_reading = static_cast<ClockReading*>(memory.data());
  ROOFTILE_TRY(rooftile::ROOFTILE_TARGET::spin(stream, rooftile::ROOFTILE_TARGET::kClockSpanUs, g_reading));
  ClockReading reading{};
  ROOFTILE_TRY(copy(stream, &reading, kCpu, g_reading, stream.device, sizeof(reading)));
  ROOFTILE_TRY(synchronize(stream));
  if (reading.cycles <= 0 || reading.ns == 0) {
    return Status::error(StatusCode::device_error, "the clock counters of the GPU did not advance");
  }
  return static_cast<double>(reading.cycles) / static_cast<double>(reading.ns) * 1e3;
}

Result<double> rated_sm_clock_mhz(Device device) {
  int khz = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device.index);
  if (error != cudaSuccess || khz <= 0) {
    static_cast<void>(cudaGetLastError());
    return unavailable("the driver does not name the SM clock of " + to_string(device));
  }
  return khz * 1e-3;
}

Result<std::string> pci_address(Device device) {
  char address[32] = {};
  const cudaError_t error = cudaDeviceGetPCIBusId(address, sizeof(address), device.index);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return unavailable("the driver does not say where " + to_string(device) + " is plugged in");
  }
  return std::string(address);
}

}  // namespace rooftile::lab
