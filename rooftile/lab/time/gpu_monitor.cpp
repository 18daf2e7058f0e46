#include "rooftile/lab/time/gpu_monitor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "rooftile/lab/time/gpu_clock.h"

namespace rooftile::lab {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(250);

// Of nvml.h, which a CUDA toolkit need not have.
using NvmlDevice = void*;
constexpr int kOk = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuSensor = 0;

struct Nvml {
  int (*init)() = nullptr;
  int (*find)(const char*, NvmlDevice*) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  std::string missing;
};

template <class Function>
void load(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = fmt::format("NVML has no {}", name);
}

Nvml load_nvml() {
  Nvml nvml;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    nvml.missing = fmt::format("the driver's NVML (libnvidia-ml.so.1) is not there");
    return nvml;
  }
  load(library, "nvmlInit_v2", nvml.init, nvml.missing);
  load(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.find, nvml.missing);
  load(library, "nvmlDeviceGetUUID", nvml.uuid, nvml.missing);
  load(library, "nvmlDeviceGetClockInfo", nvml.clock, nvml.missing);
  load(library, "nvmlDeviceGetPowerUsage", nvml.power, nvml.missing);
  load(library, "nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit, nvml.missing);
  load(library, "nvmlDeviceGetTemperature", nvml.temperature, nvml.missing);
  load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons, nvml.missing);
  if (nvml.missing.empty() && nvml.init() != kOk) nvml.missing = fmt::format("NVML does not start");
  return nvml;
}

const Nvml& the_nvml() {
  static const Nvml nvml = load_nvml();
  return nvml;
}

}  // namespace

struct GpuMonitor::Watch {
  NvmlDevice device = nullptr;
  GpuConditions found;
  unsigned long long reasons = 0;
  double power_sum_w = 0;
  int power_samples = 0;
  bool ended = false;
  std::mutex mutex;
  std::condition_variable wakes;
  std::thread thread;

  void sample() {
    const Nvml& nvml = the_nvml();
    unsigned value = 0;
    if (nvml.clock(device, kSmClock, &value) == kOk) {
      found.lowest_sm_mhz = found.lowest_sm_mhz == 0 ? value : std::min<double>(found.lowest_sm_mhz, value);
      found.highest_sm_mhz = std::max<double>(found.highest_sm_mhz, value);
    }
    if (nvml.clock(device, kMemoryClock, &value) == kOk) found.memory_mhz = value;
    if (nvml.power(device, &value) == kOk) {
      power_sum_w += value * 1e-3;
      ++power_samples;
      found.highest_power_w = std::max(found.highest_power_w, value * 1e-3);
    }
    if (nvml.temperature(device, kGpuSensor, &value) == kOk)
      found.highest_celsius = std::max<double>(found.highest_celsius, value);
    unsigned long long now = 0;
    if (nvml.reasons(device, &now) == kOk) reasons |= now;
    ++found.samples;
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!ended) {
      sample();
      wakes.wait_for(lock, kPeriod, [this] { return ended; });
    }
  }
};

GpuMonitor::GpuMonitor(Device device) : watch_(std::make_unique<Watch>()) {
  GpuConditions& found = watch_->found;
  const Nvml& nvml = the_nvml();
  const Result<std::string> address = pci_address(device);
  if (!address.ok()) {
    found.unknown = address.status().sentence();
  } else if (!nvml.missing.empty()) {
    found.unknown = nvml.missing;
  } else if (nvml.find(address->c_str(), &watch_->device) != kOk) {
    found.unknown = fmt::format("NVML does not know the GPU at {}", *address);
  }
  if (!found.unknown.empty()) return;
  std::array<char, 96> uuid{};
  if (nvml.uuid(watch_->device, uuid.data(), static_cast<unsigned>(uuid.size())) == kOk)
    found.uuid = uuid.data();
  unsigned milliwatts = 0;
  if (nvml.power_limit(watch_->device, &milliwatts) == kOk) found.power_limit_w = milliwatts * 1e-3;
  watch_->thread = std::thread([watch = watch_.get()] { watch->run(); });
}

GpuMonitor::~GpuMonitor() { (void)finish(); }

GpuConditions GpuMonitor::finish() {
  if (watch_->thread.joinable()) {
    {
      const std::lock_guard lock(watch_->mutex);
      watch_->ended = true;
    }
    watch_->wakes.notify_all();
    watch_->thread.join();
    if (watch_->power_samples > 0) watch_->found.mean_power_w = watch_->power_sum_w / watch_->power_samples;
    watch_->found.slowed_by = slowing_reasons(watch_->reasons);
  }
  return watch_->found;
}

// Left out: idle (1), clocks that a user set (2) and sync boost (16), which say nothing of a load.
std::string slowing_reasons(unsigned long long bits) {
  constexpr std::array<std::pair<unsigned long long, std::string_view>, 6> kReasons = {
      {{0x4, "power cap"},
       {0x8, "hardware slowdown"},
       {0x20, "thermal, by software"},
       {0x40, "thermal, by hardware"},
       {0x80, "power brake"},
       {0x100, "display clocks"}}};
  std::string text;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace rooftile::lab
