// What Nsight Compute writes with `--csv --page raw`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile::lab {

// One kernel launch.
struct NcuKernel {
  std::string name;  // with its template arguments
  std::string grid;  // "(640, 1, 1)"
  std::string block;
  // In base units: bytes, seconds, cycles, hertz, percent. Metrics that
  // have no number here, or that the GPU does not have, are left out.
  std::map<std::string, double, std::less<>> metrics;

  [[nodiscard]] std::optional<double> metric(std::string_view metric_name) const;
};

// In launch order. Lines of ncu's own ("==PROF== ...") and of other programs before the table are passed
// over. An error where there is no table, or where it is cut off.
[[nodiscard]] Result<std::vector<NcuKernel>> parse_ncu_csv(std::string_view text);

}  // namespace rooftile::lab
