#include "rooftile/lab/profile/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace rooftile::lab {
namespace {

using Row = std::vector<std::string>;

// One row of comma-separated fields from `at` on; quoted ones may hold commas, line ends and doubled quotes.
// False where a quote is left open.
bool read_row(std::string_view text, std::size_t& at, Row& row) {
  row.assign(1, "");
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        row.back() += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      ++at;
      return true;
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  return !quoted;
}

// Factor from a unit to its base. ncu scales by 1000, in bytes too; older versions write units out.
double scale_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 12> kTimes = {{{"ns", 1e-9},
                                                                           {"nsecond", 1e-9},
                                                                           {"us", 1e-6},
                                                                           {"usecond", 1e-6},
                                                                           {"ms", 1e-3},
                                                                           {"msecond", 1e-3},
                                                                           {"s", 1.0},
                                                                           {"second", 1.0},
                                                                           {"hz", 1.0},
                                                                           {"Khz", 1e3},
                                                                           {"Mhz", 1e6},
                                                                           {"Ghz", 1e9}}};
  for (const auto& [name, factor] : kTimes) {
    if (unit == name) return factor;
  }
  if (unit.find("byte") == std::string_view::npos) return 1.0;
  switch (unit.front()) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1.0;
  }
}

// "1,234.5"; none for "n/a" and "nan", for text and for lists of instances.
std::optional<double> parse_number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const bool is_number = error == std::errc() && end == last && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

NcuKernel read_kernel(const Row& header, const Row& units, const Row& row) {
  NcuKernel kernel;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    if (name == "Kernel Name") {
      kernel.name = row[i];
    } else if (name == "Grid Size") {
      kernel.grid = row[i];
    } else if (name == "Block Size") {
      kernel.block = row[i];
    } else if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') {
      // Metrics begin with a small letter; what describes the launch begins with a capital.
      if (const std::optional<double> value = parse_number(row[i])) {
        kernel.metrics[name] = *value * (units[i].empty() ? 1.0 : scale_of(units[i]));
      }
    }
  }
  return kernel;
}

}  // namespace

std::optional<double> NcuKernel::metric(std::string_view metric_name) const {
  const auto at = metrics.find(metric_name);
  return at == metrics.end() ? std::nullopt : std::optional(at->second);
}

Result<std::vector<NcuKernel>> parse_ncu_csv(std::string_view text) {
  constexpr std::string_view kHeader = "\"ID\",";
  std::size_t at = text.starts_with(kHeader) ? 0 : text.find(fmt::format("\n{}", kHeader));
  if (at == std::string_view::npos) return io_error("ncu's output holds no table");
  if (text[at] == '\n') ++at;
  Row header;
  Row units;
  if (!read_row(text, at, header) || !read_row(text, at, units) || units.size() != header.size())
    return io_error("ncu's table is cut off in its heading");
  std::vector<NcuKernel> kernels;
  Row row;
  while (at < text.size()) {
    if (!read_row(text, at, row)) return io_error("ncu's table is cut off");
    if (row.size() == 1) continue;  // an empty line, or one of ncu's own
    if (row.size() != header.size()) return io_error("ncu's table is cut off");
    kernels.push_back(read_kernel(header, units, row));
  }
  return kernels;
}

}  // namespace rooftile::lab
