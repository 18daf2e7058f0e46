#include "rooftile/ops/topk/topk_table.h"

#include "rooftile/core/integers.h"
#include "rooftile/ops/topk/rungs.h"
#include "rooftile/ops/topk/topk_plan.h"

namespace rooftile {
namespace {

using topk_plan::ClusterCut;
using topk_plan::Parts;
using topk_plan::RadixCut;
using topk_plan::Rows;

std::int64_t row_bytes(const TopkArgs& args) {
  return topk_plan::rows_of(args).length * static_cast<std::int64_t>(size_of(args.in.dtype));
}

std::string_view supports_lesson(const TopkArgs& args, const DeviceProperties&) {
  const DType dtype = args.in.dtype;
  if (dtype != DType::f32 && dtype != DType::i32 && dtype != DType::u32)
    return "a lesson rung: serves f32, i32 and u32";
  return "";
}
std::string_view supports_buffered(const TopkArgs& args, const DeviceProperties&) {
  return args.k <= topk_plan::kMostBuffered ? "" : "keeps the best in shared memory: serves k up to 1024";
}
std::string_view supports_cluster(const TopkArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_buffered(args, device); !reason.empty()) return reason;
  return topk_plan::cluster_cut(args).blocks > 0
             ? ""
             : "a row in the shared memory of a cluster: serves rows of less than 1 MiB";
}
std::string_view supports_sampling(const TopkArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_buffered(args, device); !reason.empty()) return reason;
  return row_bytes(args) >= topk_plan::kSampledBytes ? ""
                                                     : "a sample of a row: serves rows of 16 KiB and more";
}
std::string_view supports_parts(const TopkArgs& args, const DeviceProperties& device) {
  if (args.k > topk_plan::kMostCounted) return "counts for each of the best: serves k up to 256";
  return topk_plan::part_cut(args, device).parts > 0
             ? ""
             : "parts of a row in the shared memory of blocks, and what they keep in that of one: serves rows of some MiB, "
               "the less the larger k is";
}

RungPlan plan_list(const TopkArgs& args, const DeviceProperties&) {
  return {.workspace = {.bytes = static_cast<std::size_t>(topk_plan::rows_of(args).length) *
                                 sizeof(std::uint32_t)}};
}
RungPlan plan_heaps(const TopkArgs& args, const DeviceProperties&) {
  const Parts cut = topk_plan::host_parts_of(args);
  const std::int64_t lists = cut.parts > 1 ? topk_plan::rows_of(args).count * cut.parts : 0;
  return {.workspace = {.bytes = static_cast<std::size_t>(lists * args.k) * sizeof(std::int64_t)},
          .config = PlanConfig::of(cut)};
}

RungPlan plan_sort(const TopkArgs& args, const DeviceProperties&) {
  const Rows rows = topk_plan::rows_of(args);
  return {.workspace = {.bytes = static_cast<std::size_t>(rows.count * topk_plan::sorted_ranks(rows.length)) *
                                 topk_plan::rank_bytes(args)}};
}

RungPlan plan_radix(const TopkArgs& args, const DeviceProperties& device) {
  const RadixCut cut{.rows = topk_plan::radix_rows(args),
                     .parts = topk_plan::parts_of(args, device, 4, topk_plan::kVectors).parts};
  const auto rows = static_cast<std::size_t>(cut.rows);
  const auto ranks = static_cast<std::size_t>(topk_plan::sorted_ranks(args.k));
  return {.workspace = {.bytes = rows * (ranks * topk_plan::rank_bytes(args) + topk_plan::kRowStateBytes),
                        .zeroed_bytes = rows * (topk_plan::kBins + 2) * sizeof(std::uint32_t)},
          .config = PlanConfig::of(cut)};
}

RungPlan plan_cluster(const TopkArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(topk_plan::cluster_cut(args))};
}

RungPlan plan_sampling(const TopkArgs& args, const DeviceProperties& device) {
  const topk_plan::SampleCut cut = topk_plan::sample_cut(args, device);
  const auto rows = static_cast<std::size_t>(topk_plan::rows_of(args).count);
  const auto slots = static_cast<std::size_t>(topk_plan::kept_slots(args.k));
  const auto blocks = rows * static_cast<std::size_t>(cut.parts);
  const auto groups = static_cast<std::size_t>(topk_plan::sample_groups(args.k));
  return {.workspace = {.bytes = (rows * (groups + 1) + blocks * slots) * topk_plan::rank_bytes(args) +
                                 blocks * sizeof(std::uint32_t),
                        .zeroed_bytes = 2 * rows * sizeof(std::uint32_t)},
          .config = PlanConfig::of(cut)};
}
RungPlan plan_parts(const TopkArgs& args, const DeviceProperties& device) {
  const topk_plan::PartCut cut = topk_plan::part_cut(args, device);
  RungPlan plan{.config = PlanConfig::of(cut)};
  if (cut.parts > 1) {
    const auto rows = static_cast<std::size_t>(topk_plan::rows_of(args).count);
    plan.workspace = {.bytes = rows * static_cast<std::size_t>(cut.parts) *
                               static_cast<std::size_t>(cut.kept) * topk_plan::rank_bytes(args),
                      .zeroed_bytes = rows * sizeof(std::uint32_t)};
  }
  return plan;
}

}  // namespace

std::vector<Rung<TopkArgs>> topk_rung_table() {
  return {
      {.rung = topk_rungs::serial,
       .idea = "Of each row the indices, the first k of them put in order.",
       .change = "the start of the CPU climb",
       .plan = plan_list},
      {.rung = topk_rungs::threaded,
       .idea = "Every core has rows, or parts of a row, of which it keeps the best.",
       .change = "all cores, and no list of all indices",
       .plan = plan_heaps},
      {.rung = topk_rungs::sort_rows,
       .idea = "Every row is sorted by a bitonic network; the first k elements are the answer.",
       .change = "the start of the GPU climb",
       .source = "Batcher 1968",
       .supports = supports_lesson,
       .plan = plan_sort,
       .expects = {{"bytes_moved_over_needed", 25, 40}}},
      {.rung = topk_rungs::bitonic_heap,
       .idea =
           "Elements above the k-th best so far wait in shared memory; when many wait, they are sorted, k are kept, and the "
           "threshold rises.",
       .change = "one read, no copy",
       .source = "Johnson et al. 2017",
       .supports = supports_buffered,
       .expects = {{"bytes_moved_over_needed", 1, 1.1}}},
      {.rung = topk_rungs::radix_select,
       .idea =
           "All blocks count digits of a row, the highest first, until it is known where the k-th stands.",
       .change = "any k; all multiprocessors at a row",
       .source = "Alabi et al. 2012",
       .plan = plan_radix,
       .expects = {{"bytes_moved_over_needed", 4.5, 8}}},
      {.rung = topk_rungs::cluster_rows,
       .idea =
           "A row lies in the shared memory of a cluster. The k-th of the maxima of small groups is a threshold; little more "
           "than k elements are not below it.",
       .change = "one read, whatever the order; the second look is one at shared memory",
       .source = "PTX ISA, distributed shared memory",
       .supports = supports_cluster,
       .plan = plan_cluster,
       .expects = {{"bytes_moved_over_needed", 1, 1.1}}},
      {.rung = topk_rungs::sampled_threshold,
       .idea =
           "A sample of the row, a 64th or more, gives a threshold that k elements at least are not below; one read keeps those alone.",
       .change = "rows of any length, by all multiprocessors",
       .source = "Floyd and Rivest 1975",
       .supports = supports_sampling,
       .plan = plan_sampling,
       .expects = {{"bytes_moved_over_needed", 2, 3.2}}},
      {.rung = topk_rungs::shared_parts,
       .idea =
           "Parts of a row in shared memory; a threshold is one of 64 maxima, after counting. The last block of the "
           "row takes what the parts have kept.",
       .change = "one read, one launch, nothing is sorted, and no block waits for another one",
       .source = "Knuth, TAOCP 3, 5.2",
       .supports = supports_parts,
       .plan = plan_parts,
       .expects = {{"bytes_moved_over_needed", 1, 1.2}}},
  };
}

namespace {

// A k above what is counted: on an H200, f32, microseconds, sampled and by digits: 64 rows of 10000 k 300 238, 61; of 128256 k 1000
// 128 rows 207, 204, 512 rows 677, 579, whose samples are whole rows; all longer or fewer ones are sooner sampled.
bool takes_digits(const TopkArgs& args, const DeviceProperties& device) {
  constexpr std::int64_t kManyRows = 128;
  const int stride = topk_plan::sample_cut(args, device).stride;
  return stride == 0 || (stride == 1 && topk_plan::rows_of(args).count >= kManyRows);
}

bool is_available(std::string_view rung, const DeviceProperties& device) {
  return unavailable_reason(*topk_operator().find_rung(rung), device).empty();
}

}  // namespace

std::string_view topk_choose(const TopkArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (args.k > topk_plan::kMostBuffered) return "radix_select";
  if (topk_plan::part_cut(args, device).parts > 0 && is_available("shared_parts", device))
    return "shared_parts";
  if (row_bytes(args) < topk_plan::kSampledBytes) return "bitonic_heap";
  if (args.k > topk_plan::kMostCounted && takes_digits(args, device)) return "radix_select";
  return is_available("sampled_threshold", device) ? "sampled_threshold" : "radix_select";
}

}  // namespace rooftile
