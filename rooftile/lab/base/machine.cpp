#include "rooftile/lab/base/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/base/format_bytes.h"

namespace rooftile::lab {
namespace {

// The value of the first line of a file that starts with `key`, without what separates the two.
std::string value_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t first = line.find_first_not_of(" \t:=\"", key.size());
    if (first == std::string::npos) return "";
    const std::size_t last = line.find_last_not_of(" \t\"");
    return line.substr(first, last - first + 1);
  }
  return "";
}

std::string operating_system() {
  const std::string distribution = value_of("/etc/os-release", "PRETTY_NAME");
  utsname system{};
  if (uname(&system) != 0) return distribution;
  return fmt::format("{}, {} {} {}", distribution, system.sysname, system.release, system.machine);
}

std::string cuda_version(int encoded) {
  return encoded == 0 ? "" : fmt::format("{}.{}", encoded / 1000, encoded % 1000 / 10);
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build ..."
std::string kernel_driver() {
  const std::string line = value_of("/proc/driver/nvidia/version", "NVRM version");
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos) return word;
    at = end + 1;
  }
  return "";
}

}  // namespace

Machine describe_machine(Device device) {
  Machine machine;
  machine.cpu = value_of("/proc/cpuinfo", "model name");
  if (const auto host = device_properties(kCpu); host.ok()) {
    machine.cpu_threads = (*host)->multiprocessors;
    machine.memory = format_bytes(static_cast<double>((*host)->memory_bytes));
    if (machine.cpu.empty()) machine.cpu = (*host)->name;
  }
  machine.os = operating_system();
  machine.gpu = "none";
  if (const Status gpu = cuda_availability(); !gpu.ok()) {
    machine.gpu_reason = gpu.sentence();
  } else {
    const Device which = device.kind == DeviceKind::cuda ? device : cuda_device(0);
    if (const auto properties = device_properties(which); properties.ok()) {
      machine.gpu = (*properties)->name;
      machine.multiprocessors = (*properties)->multiprocessors;
      machine.last_level_cache = format_bytes(static_cast<double>((*properties)->last_level_cache));
      machine.cuda_runtime = cuda_version((*properties)->runtime_version);
      const std::string kernel = kernel_driver();
      const std::string serves = cuda_version((*properties)->driver_version);
      machine.driver =
          kernel.empty() ? fmt::format("CUDA {}", serves) : fmt::format("{} (CUDA {})", kernel, serves);
    }
  }
  machine.compiler = build_info().compiler;
  machine.flags = build_info().flags;
  machine.cuda_compiler = build_info().cuda_compiler;
  return machine;
}

}  // namespace rooftile::lab
