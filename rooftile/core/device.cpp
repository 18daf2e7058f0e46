#include "rooftile/core/device.h"

#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "rooftile/core/detail/backend.h"

namespace rooftile {

namespace detail {

Status check_device(Device device) {
  switch (device.kind) {
    case DeviceKind::cpu:
    case DeviceKind::sim:
      if (device.index == 0) return {};
      return invalid_argument("device index " + std::to_string(device.index) +
                              " is only for cuda: cpu and sim are one each");
    case DeviceKind::cuda:
      break;
    default:
      return invalid_argument("unknown device kind: use cuda, cpu or sim");
  }
  if (device.index < 0) return invalid_argument("a GPU's number must not be negative: use cuda:0");
  const CudaProbe& probe = cuda_probe();
  ROOFTILE_TRY(probe.status);
  if (device.index < probe.devices) return {};
  const std::string known = probe.devices == 1
                                ? "the only GPU is cuda:0"
                                : "the GPUs are cuda:0 to cuda:" + std::to_string(probe.devices - 1);
  return unavailable("there is no " + to_string(device) + " on this machine: " + known);
}

Result<Backend*> backend_for(Device device) {
  ROOFTILE_TRY(check_device(device));
  if (device.kind == DeviceKind::cuda) return static_cast<Backend*>(cuda_backend());
  return &host_backend();
}

}  // namespace detail

std::string to_string(Device device) {
  switch (device.kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::sim:
      return "sim";
    case DeviceKind::cuda:
      return "cuda:" + std::to_string(device.index);
  }
  return "unknown device";
}

Result<Device> parse_device(std::string_view text) {
  if (text == "cpu") return kCpu;
  if (text == "sim") return kSim;
  if (text == "cuda") return cuda_device(0);
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    int index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && end == digits.data() + digits.size() && digits.front() != '-')
      return cuda_device(index);
  }
  return invalid_argument("unknown device \"" + std::string(text) + "\": use cuda, cuda:N, cpu or sim");
}

Result<const DeviceProperties*> device_properties(Device device) {
  // Never destroyed: references into it live as long as the program.
  static std::mutex& mutex = *new std::mutex;
  static auto& cache = *new std::map<std::pair<DeviceKind, int>, std::unique_ptr<const DeviceProperties>>;

  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  const std::lock_guard lock(mutex);
  auto& entry = cache[{device.kind, device.index}];
  if (entry == nullptr) {
    ROOFTILE_TRY_ASSIGN(DeviceProperties properties, backend->properties(device));
    entry = std::make_unique<const DeviceProperties>(std::move(properties));
  }
  return entry.get();
}

bool built_with_cuda() { return detail::cuda_backend() != nullptr; }

int cuda_device_count() { return detail::cuda_probe().devices; }

Status cuda_availability() {
  ROOFTILE_TRY(detail::cuda_probe().status);
  return detail::cuda_first_device_status();
}

Device default_device() { return cuda_availability().ok() ? cuda_device(0) : kCpu; }

}  // namespace rooftile
