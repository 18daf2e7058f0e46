#include "rooftile/lab/ladder/ladder_bound.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rooftile/lab/ladder/ladder_timing.h"

namespace rooftile::lab {
namespace {

// Faster than the bound by more than this: the bytes or operations of the case are counted wrongly, or the bound is none.
constexpr double kImpossibleFraction = 1.05;
// Below this many bytes launching decides and not moving them: a share of the bound says little there.
constexpr double kLaunchBoundBytes = 2.0 * 1024 * 1024;

// And below this time of the operations.
constexpr double kLaunchBoundUs = 20.0;

bool is_compute_bound(const LadderRow& bound) { return bound.rung == kComputeBound; }

bool is_launch_bound(const LadderRow& bound, double bytes) {
  return is_compute_bound(bound) ? bound.time->summary.median < kLaunchBoundUs : bytes < kLaunchBoundBytes;
}

double median_of(const TimeSeries& series) { return summarize(series.samples_us).median; }

LadderRow bound_row(std::string_view name, const char* idea) {
  LadderRow row;
  row.rung = name;
  row.kind = "bound";
  row.idea = idea;
  row.verified = true;
  row.bound_fraction = 1.0;
  return row;
}

}  // namespace

CaseBound::CaseBound(StreamRef stream, const DeviceProperties& device, LadderResult& result)
    : stream_(stream) {
  Result<StreamBound> bytes = StreamBound::create(stream, result.read_bytes, result.write_bytes);
  if (bytes.ok())
    bytes_ = std::move(*bytes);
  else
    result.notes.push_back("no streaming bound: " + bytes.status().sentence());
  if (result.flops_on == FlopUnit::none) return;
  Result<ComputeBound> flops = ComputeBound::create(stream, device, result.flops_on, result.flops);
  if (flops.ok())
    flops_ = std::move(*flops);
  else
    result.notes.push_back("no compute bound: " + flops.status().sentence());
}

std::vector<TimedLaunch> CaseBound::launches() const {
  std::vector<TimedLaunch> launches;
  if (bytes_) {
    for (const StreamAccess access : bytes_->accesses()) {
      launches.push_back(
          {.launch = [this, access] { return bytes_->launch(stream_, access); },
           .check = [this](const std::function<Status()>& run) { return bytes_->check(stream_, run); }});
    }
  }
  if (flops_) launches.push_back({.launch = [this] { return flops_->launch(stream_); }});
  return launches;
}

std::optional<LadderRow> CaseBound::row(std::span<const TimeSeries> series, LadderResult& result) const {
  for (const TimeSeries& one : series) {
    if (one.status.ok()) continue;
    result.notes.push_back("no bound: " + one.status.sentence());
    return std::nullopt;
  }
  std::optional<LadderRow> row;
  if (bytes_) {
    const std::vector<StreamAccess>& accesses = bytes_->accesses();
    std::size_t best = 0;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (median_of(series[i]) < median_of(series[best])) best = i;
    }
    row = bound_row(kStreamingBound, "The same bytes in the same mix of reads and writes, and nothing else.");
    if (accesses.size() > 1) {
      row->variant = to_string(accesses[best]);
      row->reason = fmt::format("{}, the fastest of {} ways to move the same bytes in the same mix",
                                row->variant, accesses.size());
    }
    set_time(*row, series[best], result.mode, bytes_->bytes(), 0.0);
  }
  if (!flops_) return row;
  // Whole rounds were executed: the time is told of the case's operations.
  TimeSeries own = series.back();
  for (double& us : own.samples_us) us *= result.flops / flops_->flops();
  if (row && row->time->summary.median >= median_of(own)) return row;
  LadderRow compute =
      bound_row(kComputeBound, "The same number of operations on the same unit, and nothing else.");
  compute.variant = to_string(flops_->arithmetic());
  compute.reason = fmt::format("{} on normally distributed numbers", compute.variant);
  set_time(compute, own, result.mode, 0.0, result.flops);
  return compute;
}

void set_bound_fraction(LadderRow& row, const LadderRow& bound, double bytes) {
  if (!row.time || !(row.time->summary.median > 0.0)) return;
  row.bound_fraction = bound.time->summary.median / row.time->summary.median;
  if (*row.bound_fraction <= kImpossibleFraction || is_launch_bound(bound, bytes)) return;
  if (is_compute_bound(bound))
    row.reason = fmt::format("counting error: {:.2f} of the rate of {}", *row.bound_fraction, bound.variant);
  else
    row.reason = fmt::format("counting error: {:.2f} of the fastest that was tried to move these bytes",
                             *row.bound_fraction);
}

void note_launch_bound(const LadderRow& bound, LadderResult& result) {
  if (!is_launch_bound(bound, result.read_bytes + result.write_bytes)) return;
  result.notes.push_back(
      fmt::format("launch-bound: so few {} that launching decides; shares of the bound say little",
                  is_compute_bound(bound) ? "operations" : "bytes"));
}

}  // namespace rooftile::lab
