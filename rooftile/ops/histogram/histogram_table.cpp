#include "rooftile/ops/histogram/histogram_table.h"

#include "rooftile/ops/histogram/histogram_plan.h"
#include "rooftile/ops/histogram/rungs.h"

namespace rooftile {
namespace {

using histogram_plan::Cut;

std::string_view supports_lesson(const HistogramArgs& args, const DeviceProperties&) {
  if (histogram_plan::is_weighted(args)) return "a lesson rung: serves calls without weights";
  const DType dtype = args.in.dtype;
  if (dtype != DType::f32 && dtype != DType::u32 && dtype != DType::u8)
    return "a lesson rung: serves f32, u32 and u8";
  return "";
}
bool fits(const HistogramArgs& args, const DeviceProperties& device, std::int64_t copies) {
  return args.bins * histogram_plan::count_bytes(args) * copies <= histogram_plan::shared_bytes(device);
}
std::string_view supports_counts(const HistogramArgs& args, const DeviceProperties&) {
  return histogram_plan::is_weighted(args) ? "serves calls without weights: see weighted_atomics" : "";
}
std::string_view supports_weights(const HistogramArgs& args, const DeviceProperties&) {
  return histogram_plan::is_weighted(args) ? "" : "serves calls with weights";
}
std::string_view supports_private(const HistogramArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_counts(args, device); !reason.empty()) return reason;
  return fits(args, device, 1) ? "" : "more counts than a block's shared memory holds: see multi_pass";
}
std::string_view supports_lesson_private(const HistogramArgs& args, const DeviceProperties& device) {
  const std::string_view reason = supports_lesson(args, device);
  return reason.empty() ? supports_private(args, device) : reason;
}
std::string_view supports_per_warp(const HistogramArgs& args, const DeviceProperties& device) {
  const std::string_view reason = supports_lesson(args, device);
  if (!reason.empty()) return reason;
  return fits(args, device, histogram_plan::kWarps) ? ""
                                                    : "more counts for each warp than shared memory holds";
}
std::string_view supports_columns(const HistogramArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_counts(args, device); !reason.empty()) return reason;
  return histogram_plan::column_copies(args, device) > 0 ? ""
                                                         : "copies of the counts: serves up to 32768 bins";
}

std::string_view supports_bytes(const HistogramArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_counts(args, device); !reason.empty()) return reason;
  return size_of(args.in.dtype) == 1 ? "" : "counts the values of bytes: serves u8 and i8";
}

// The sums of all blocks, and a ticket for each range of bins.
RungPlan plan_for(const HistogramArgs& args, const Cut& cut) {
  return {.workspace = {.zeroed_bytes = static_cast<std::size_t>(args.bins) * sizeof(std::uint64_t) +
                                        static_cast<std::size_t>(cut.ranges) * sizeof(std::uint32_t)},
          .config = PlanConfig::of(cut)};
}
RungPlan plan_threads(const HistogramArgs& args, const DeviceProperties&) {
  const auto parts = static_cast<std::size_t>(histogram_plan::host_parts(args));
  return {.workspace = {.bytes = parts * static_cast<std::size_t>(args.bins) * sizeof(std::uint64_t)}};
}
RungPlan plan_private(const HistogramArgs& args, const DeviceProperties& device) {
  return plan_for(args, histogram_plan::cut_private(args, device, 1));
}
RungPlan plan_per_warp(const HistogramArgs& args, const DeviceProperties& device) {
  return plan_for(args, histogram_plan::cut_private(args, device, histogram_plan::kWarps));
}
RungPlan plan_columns(const HistogramArgs& args, const DeviceProperties& device) {
  return plan_for(args, histogram_plan::cut_columns(args, device));
}
RungPlan plan_bytes(const HistogramArgs& args, const DeviceProperties& device) {
  return plan_for(args, histogram_plan::cut_bytes(args, device));
}
RungPlan plan_ranges(const HistogramArgs& args, const DeviceProperties& device) {
  return plan_for(args, histogram_plan::cut_ranges(args, device));
}

}  // namespace

std::vector<Rung<HistogramArgs>> histogram_rung_table() {
  return {
      {.rung = histogram_rungs::serial,
       .idea = "One loop, one array of counters: the definition.",
       .change = "the start of the CPU climb",
       .plan = plan_threads},
      {.rung = histogram_rungs::threaded,
       .idea =
           "Parts of the elements with counters of their own, which are added up in the order of the parts.",
       .change = "all cores",
       .plan = plan_threads},
      {.rung = histogram_rungs::global_atomics,
       .idea = "Every thread adds its elements to the counters in global memory.",
       .change = "the start of the GPU climb",
       .supports = supports_lesson,
       .plan = plan_private,
       .expects = {{"global_load_sectors_per_request", 3.9, 4.1}}},
      {.rung = histogram_rungs::shared_privatised,
       .idea = "Every block has counters in shared memory, and adds them to the global ones when it is done.",
       .change = "an addition does not leave the multiprocessor; 16-byte loads",
       .source = "Podlozhnyuk 2007",
       .supports = supports_private,
       .plan = plan_private,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}}},
      {.rung = histogram_rungs::per_warp,
       .idea = "Every warp of the block has counters of its own.",
       .change = "warps do not meet at a counter",
       .source = "Podlozhnyuk 2007",
       .supports = supports_per_warp,
       .plan = plan_per_warp,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}}},
      {.rung = histogram_rungs::match_aggregated,
       .idea = "Lanes that have the same bin find each other, and one of them adds for all.",
       .change = "no two lanes meet at a counter: equal elements cost as much as any",
       .source = "CUDA C++ Programming Guide, __match_any_sync",
       .supports = supports_lesson_private,
       .plan = plan_private,
       .expects = {{"atomic_lanes_per_address", 1, 1}}},
      {.rung = histogram_rungs::lane_columns,
       .idea =
           "As many copies of the counters as fit, side by side: lane l adds to copy l modulo their number. Of 32 copies "
           "each is a bank.",
       .change = "no two lanes meet at a counter or a bank, and nobody has to look for the others",
       .source = "Gómez-Luna et al. 2013",
       .supports = supports_columns,
       .plan = plan_columns,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}, {"atomic_lanes_per_address", 1, 1.1}}},
      {.rung = histogram_rungs::byte_values,
       .idea =
           "Bytes are counted by value, each lane in a column of its own; bins are made of the values at the end.",
       .change = "no bin to compute: three instructions to an element",
       .supports = supports_bytes,
       .plan = plan_bytes,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}, {"atomic_lanes_per_address", 1, 1.1}}},
      {.rung = histogram_rungs::multi_pass,
       .idea =
           "Ranges of bins, each counted by blocks that read all elements and pass over those of other ranges.",
       .change = "any number of bins: of 65536 three ranges, three reads",
       .supports = supports_counts,
       .plan = plan_ranges,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}}},
      {.rung = histogram_rungs::weighted_atomics,
       .idea = "Ranges of bins with sums of doubles in place of counters.",
       .change = "serves weights; the order of the additions is not fixed",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_weights,
       .plan = plan_ranges,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}}},
  };
}

// Of fewer elements, emptying and adding up the columns takes the longer part. On an H200, microseconds, lane_columns and
// multi_pass: u32 2^16 7.8 and 6.4, 2^18 8.0 and 7.2, 2^19 8.7 and 8.9; f64 2^16 7.3 and 6.3, 2^18 7.7 and 8.5.
constexpr std::int64_t kColumnBytesChosen = std::int64_t{3} << 19;
// byte_values and per_warp, u8 of up to 256 bins: 2^16 7.9 and 6.9, 2^18 7.9 and 7.2, 2^20 7.9 and 9.3.
constexpr std::int64_t kByteValuesChosen = std::int64_t{3} << 17;

std::string_view histogram_choose(const HistogramArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (histogram_plan::is_weighted(args)) return "weighted_atomics";
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  if (size_of(args.in.dtype) == 1) {
    if (bytes > kByteValuesChosen) return "byte_values";
    const bool is_small = args.bins <= histogram_plan::kByteValues;
    return is_small && supports_per_warp(args, device).empty() ? "per_warp" : "multi_pass";
  }
  if (bytes <= kColumnBytesChosen) return "multi_pass";
  if (histogram_plan::column_copies(args, device) > 0) return "lane_columns";
  return "multi_pass";
}

}  // namespace rooftile
