#include "rooftile/lab/ladder/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "rooftile/lab/ladder/ladder_bound.h"

namespace rooftile::lab {
namespace {

void add(std::string& list, const std::string& part) {
  if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
}

std::string count_text(std::int64_t count) {
  constexpr std::int64_t kFirstPower = std::int64_t{1} << 16;
  const auto bits = static_cast<std::uint64_t>(count);
  if (count < kFirstPower || !std::has_single_bit(bits)) return std::to_string(count);
  return fmt::format("2^{}", std::countr_zero(bits));
}

std::string uncommon_fill(const RecordCase& c) {
  return c.fill.empty() || c.fill == "uniform" ? "" : "fill=" + c.fill;
}

std::string uncommon_offset(const RecordCase& c) {
  return c.offset == 0 ? "" : "offset=" + std::to_string(c.offset);
}

}  // namespace

std::string time_text(double us) {
  return us < 1e3 ? fmt::format("{:.2f} us", us) : fmt::format("{:.3f} ms", us * 1e-3);
}

std::string share_text(double share) { return share > 0 ? fmt::format("{:.3f}", share) : ""; }

std::string ratio_text(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 10.0 ? 3 : 2); }

std::string commit_text(const Record& record) {
  const bool dirty = record.commit.ends_with("-dirty");
  return record.commit.substr(0, 12) + (dirty ? "-dirty" : "");
}

std::string shape_text(const RecordCase& c) {
  std::string text;
  for (const auto& [key, extent] : c.shape) add(text, fmt::format("{}={}", key, count_text(extent)));
  return text;
}

std::string params_text(const RecordCase& c) {
  std::string text;
  for (const auto& [name, value] : c.params) add(text, fmt::format("{}={}", name, value));
  return text;
}

std::string case_text(const RecordCase& c) { return case_text(c, RecordCase{}); }

std::string case_text(const RecordCase& c, const RecordCase& usual) {
  std::string text = shape_text(c);
  add(text, c.dtype);
  for (const auto& param : c.params) {
    if (std::find(usual.params.begin(), usual.params.end(), param) == usual.params.end()) {
      add(text, fmt::format("{}={}", param.first, param.second));
    }
  }
  add(text, uncommon_fill(c));
  add(text, uncommon_offset(c));
  return text;
}

bool counts_flops(const Record& record) {
  return std::any_of(record.rows.begin(), record.rows.end(),
                     [](const RecordRow& row) { return row.rung == kComputeBound && row.timed; });
}

std::string rate_text(const Record& record, const RecordRow& row) {
  const double rate = counts_flops(record) ? row.tflops : row.gbps;
  if (rate <= 0) return "";
  return fmt::format("{:.{}f}", rate, rate < 100.0 ? 2 : 0);
}

std::string_view rate_unit(const Record& record) { return counts_flops(record) ? "TFLOP/s" : "GB/s"; }

std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

}  // namespace rooftile::lab
