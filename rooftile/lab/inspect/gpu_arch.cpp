#include "rooftile/lab/inspect/gpu_arch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace rooftile::lab {
namespace {

// compute capability, warps, blocks, barriers, shared KiB, reserved KiB, grain, largest block KiB
constexpr auto kLimits = std::to_array<SmLimits>({
    {75, 32, 16, 0, 64, 0, 256, 64},
    {80, 64, 32, 0, 164, 1, 128, 163},
    {86, 48, 16, 0, 100, 1, 128, 99},
    {87, 48, 16, 0, 164, 1, 128, 163},
    {89, 48, 24, 0, 100, 1, 128, 99},
    {90, 64, 32, 64, 228, 1, 128, 227},
    {100, 64, 32, 64, 228, 1, 128, 227},
    {103, 64, 32, 64, 228, 1, 128, 227},
    {110, 48, 24, 24, 228, 1, 128, 227},
    {120, 48, 24, 24, 100, 1, 128, 99},
    {121, 48, 24, 24, 100, 1, 128, 99},
});

// The first of each architecture stands for it.
constexpr auto kModels = std::to_array<GpuModel>({
    {"t4", "T4", 75, 40},
    {"rtx-2080-ti", "RTX 2080 Ti", 75, 68},
    {"a100", "A100", 80, 108},
    {"a30", "A30", 80, 56},
    {"rtx-3090", "RTX 3090", 86, 82},
    {"a10", "A10", 86, 72},
    {"a40", "A40", 86, 84},
    {"agx-orin", "Jetson AGX Orin", 87, 16},
    {"rtx-4090", "RTX 4090", 89, 128},
    {"l4", "L4", 89, 58},
    {"l40s", "L40S", 89, 142},
    {"h200", "H200", 90, 132},
    {"h100-sxm", "H100 SXM", 90, 132},
    {"h100-pcie", "H100 PCIe", 90, 114},
    {"b200", "B200", 100, 148},
    {"b300", "B300", 103, 148},
    {"agx-thor", "Jetson AGX Thor", 110, 20},
    {"rtx-5090", "RTX 5090", 120, 170},
    {"rtx-5080", "RTX 5080", 120, 84},
    {"rtx-pro-6000", "RTX PRO 6000 Blackwell", 120, 188},
    {"dgx-spark", "DGX Spark (GB10)", 121, 48},
});

const SmLimits* find_limits(int compute_capability) {
  const auto found = std::find_if(kLimits.begin(), kLimits.end(), [&](const SmLimits& sm) {
    return sm.compute_capability == compute_capability;
  });
  return found == kLimits.end() ? nullptr : &*found;
}

std::string known_archs() {
  std::string names;
  for (const SmLimits& sm : kLimits) {
    names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", sm.compute_capability);
    if (sm.compute_capability == 90) names += ", sm_90a";
  }
  return names;
}

// Suffixes came with 9.0 (a) and 10.0 (f).
bool takes_suffix(int compute_capability, std::string_view suffix) {
  return suffix.empty() || (suffix == "a" && compute_capability >= 90) ||
         (suffix == "f" && compute_capability >= 100);
}

// "RTX 4090" as "rtx4090".
std::string letters_and_digits(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0) word += static_cast<char>(std::tolower(u));
  }
  return word;
}

}  // namespace

std::span<const SmLimits> sm_limits() { return kLimits; }
std::span<const GpuModel> gpu_models() { return kModels; }

Result<GpuArch> parse_arch(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("sm_")) rest.remove_prefix(3);
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  int number = 0;
  if (digits > 0 && digits <= 3) {
    for (const char c : rest.substr(0, digits)) number = 10 * number + (c - '0');
  }
  const SmLimits* sm = find_limits(number);
  const std::string_view suffix = rest.substr(digits);
  if (sm == nullptr || !takes_suffix(number, suffix)) {
    return invalid_argument(fmt::format(
        "unknown architecture '{}': choose one of {} (a suffix a from sm_90 on)", text, known_archs()));
  }
  return GpuArch{fmt::format("sm_{}{}", number, suffix), sm};
}

Result<GpuModel> find_gpu(std::string_view name) {
  std::vector<std::string> ids;
  for (const GpuModel& model : kModels) {
    if (letters_and_digits(model.id) == letters_and_digits(name)) return model;
    ids.emplace_back(model.id);
  }
  return invalid_argument(fmt::format("unknown GPU '{}': choose one of {}", name, fmt::join(ids, ", ")));
}

const GpuModel& typical_gpu(const GpuArch& arch) {
  return *std::find_if(kModels.begin(), kModels.end(), [&](const GpuModel& model) {
    return model.compute_capability == arch.sm->compute_capability;
  });
}

Result<GpuArch> arch_of(const GpuModel& gpu) {
  return parse_arch(fmt::format("sm_{}{}", gpu.compute_capability, gpu.compute_capability == 90 ? "a" : ""));
}

Result<DeviceProperties> simulated_properties(const GpuModel& gpu) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* simulated, device_properties(kSim));
  const SmLimits& sm = *find_limits(gpu.compute_capability);
  DeviceProperties properties = *simulated;
  properties.name = gpu.name;
  properties.compute_capability = gpu.compute_capability;
  properties.multiprocessors = gpu.multiprocessors;
  properties.max_threads_per_multiprocessor = sm.warps * kWarpThreads;
  properties.shared_memory_per_block = std::size_t{1024} * static_cast<std::size_t>(sm.largest_block_kib);
  return properties;
}

}  // namespace rooftile::lab
