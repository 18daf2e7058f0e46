#include "rooftile/lab/inspect/ptxas_report.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace rooftile::lab {
namespace {

// The number in front of `unit`: 64 of "used 1 barriers, 64 bytes smem" for " bytes smem"; else 0.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int value = 0;
  std::from_chars(line.data() + start, line.data() + end, value);
  return value;
}

std::string between_quotes(std::string_view line) {
  const std::size_t start = line.find('\'');
  const std::size_t end = line.find('\'', start + 1);
  if (start == std::string_view::npos || end == std::string_view::npos) return "";
  return std::string(line.substr(start + 1, end - start - 1));
}

}  // namespace

std::vector<KernelResources> parse_ptxas_report(std::string_view text) {
  constexpr std::string_view kProperties = "Function properties for ";
  std::vector<KernelResources> kernels;
  bool of_kernel = false;  // the properties that follow are those of the kernel, and not of a function
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compiling entry function") != std::string::npos) {
      kernels.push_back({});
      kernels.back().symbol = between_quotes(line);
    } else if (const std::size_t at = line.find(kProperties); at != std::string::npos) {
      of_kernel = !kernels.empty() && line.substr(at + kProperties.size()) == kernels.back().symbol;
    } else if (kernels.empty()) {
      continue;
    } else if (of_kernel && line.find("bytes stack frame") != std::string::npos) {
      kernels.back().stack_bytes = number_before(line, " bytes stack frame");
      kernels.back().spill_stores = number_before(line, " bytes spill stores");
      kernels.back().spill_loads = number_before(line, " bytes spill loads");
    } else if (line.find(" registers") != std::string::npos && line.find("Used ") != std::string::npos) {
      kernels.back().registers = number_before(line, " registers");
      kernels.back().barriers = number_before(line, " barriers");
      kernels.back().shared_bytes = number_before(line, " bytes smem");
      // ptxas 13 adds the stack of what is called ("16 bytes cumulative stack size").
      kernels.back().stack_bytes =
          std::max(kernels.back().stack_bytes, number_before(line, " bytes cumulative stack size"));
    }
  }
  return kernels;
}

}  // namespace rooftile::lab
