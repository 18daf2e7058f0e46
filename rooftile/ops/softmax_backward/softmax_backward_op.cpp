#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/softmax_backward/rungs.h"
#include "rooftile/ops/softmax_backward/softmax_backward_plan.h"

namespace rooftile {
namespace {

using namespace softmax_backward_plan;

Status check(const SoftmaxBackwardArgs& args) {
  if (args.temperature < 1e-30)
    return invalid_argument("temperature is " + std::to_string(args.temperature) +
                            ": it must be 1e-30 at least; argmax, which 0 stands for, has no gradient");
  if (!geometry(args).fits) {
    return unsupported(
        "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
        "copy without gaps");
  }
  return {};
}

std::string_view supports_thread_rows(const SoftmaxBackwardArgs& args, const DeviceProperties&) {
  return geometry(args).length > kLongestThreadRow
             ? "serves rows up to 16384 elements, whose sums are exact enough: see block_row"
             : "";
}
std::string_view supports_warp_rows(const SoftmaxBackwardArgs& args, const DeviceProperties&) {
  return geometry(args).length > kLongestWarpRow
             ? "serves rows up to 524288 elements, whose sums are exact enough: see block_row"
             : "";
}
std::string_view supports_vectors(const SoftmaxBackwardArgs& args, const Rows<kTensors>& rows) {
  const bool alike = lie_alike(args.y, rows.tensors[kY], args.dy, rows.tensors[kDy]) &&
                     lie_alike(args.y, rows.tensors[kY], args.dx, rows.tensors[kDx]);
  return alike
             ? ""
             : "needs rows without gaps that lie to 16 bytes alike in y, dy and dx: see warp_row, block_row";
}
std::string_view supports_vectorized(const SoftmaxBackwardArgs& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  if (shape_for(kRowShapes, vectors_of(args, rows)) < 0)
    return "registers have room for rows of 32 KiB: see cluster, block_row";
  return supports_vectors(args, rows);
}
std::string_view supports_cluster(const SoftmaxBackwardArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  if (cluster_of(args, rows, device).blocks == 0)
    return "a row does not fit into a cluster's registers: see block_row";
  if (rows.length * static_cast<std::int64_t>(size_of(args.y.dtype)) < kShortestClusterRow)
    return "serves rows from 1 KiB on: see vectorized";
  return supports_vectors(args, rows);
}

RungPlan plan_rows(const SoftmaxBackwardArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(Cut{.rows = geometry(args)})};
}
RungPlan plan_vectorized(const SoftmaxBackwardArgs& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  return {.config =
              PlanConfig::of(Cut{.rows = rows, .shape = shape_for(kRowShapes, vectors_of(args, rows))})};
}
RungPlan plan_cluster(const SoftmaxBackwardArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const ClusterCut cut = cluster_of(args, rows, device);
  return {.config = PlanConfig::of(Cut{.rows = rows, .shape = cut.shape, .cluster = cut})};
}

// Registers, as far as a block's reach, then those of a cluster.
std::string_view choose(const SoftmaxBackwardArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (supports_vectorized(args, device).empty()) return "vectorized";
  if (device.compute_capability == 90 && supports_cluster(args, device).empty()) return "cluster";
  // A warp's chain of loads is as long as a 32nd of the row.
  constexpr std::int64_t kLongestChosenWarpRow = 1024;
  return geometry(args).length <= kLongestChosenWarpRow ? "warp_row" : "block_row";
}

std::vector<Rung<SoftmaxBackwardArgs>> rung_table() {
  return {
      {.rung = softmax_backward_rungs::serial,
       .idea = "Two loops over a row: the definition.",
       .change = "the start of the CPU climb; in double"},
      {.rung = softmax_backward_rungs::threaded, .idea = "Every core has rows.", .change = "all cores"},
      {.rung = softmax_backward_rungs::thread_row,
       .idea = "A thread walks along a row twice: sum, results.",
       .change = "the start of the GPU climb; any strides",
       .supports = supports_thread_rows,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 31, 32}}},
      {.rung = softmax_backward_rungs::warp_row,
       .idea = "The lanes of a warp stand side by side in a row, and meet in a butterfly.",
       .change = "a warp's loads lie side by side",
       .supports = supports_warp_rows,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = softmax_backward_rungs::block_row,
       .idea = "A block's threads stand side by side in a row, four elements on their way for each.",
       .change = "16 warps to a row; it serves rows of any length",
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = softmax_backward_rungs::vectorized,
       .idea = "As many threads to a row as it has aligned vectors of 16 bytes.",
       .change = "16 bytes for each load and store; y and dy are read once",
       .supports = supports_vectorized,
       .plan = plan_vectorized,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = softmax_backward_rungs::cluster,
       .idea =
           "The blocks of a cluster have a part of the row in registers; each warp's sum goes to all of them.",
       .change = "long rows in small blocks: others load and store while one waits for its sum",
       .supports = supports_cluster,
       .plan = plan_cluster,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
  };
}

}  // namespace

const OperatorDescriptor& softmax_backward_operator() {
  static const OperatorDescriptor op = describe<SoftmaxBackwardArgs>(
      {.name = "softmax_backward",
       .summary = "what comes back through softmax, or through its logarithm",
       .maths =
           "dx[j] = (dy[j] - sum over i of dy[i] y[i]) y[j] / temperature; log: (dy[j] - exp(y[j]) sum over i of dy[i]) / "
           "temperature.",
       .model = "reads y and dy once and writes dx once: bound by memory.",
       .source = "Milakov and Gimelshein, Online normalizer calculation for softmax (2018)",
       .slots =
           {in("y", &SoftmaxBackwardArgs::y,
               {.dtypes = {DType::f32, DType::f16, DType::bf16}, .min_rank = 1, .doc = "what softmax gave"}),
            in("dy", &SoftmaxBackwardArgs::dy,
               {.dtype_of = "y", .shape_of = "y", .doc = "the gradient of y"}),
            out("dx", &SoftmaxBackwardArgs::dx,
                {.dtype_of = "y", .shape_of = "y", .may_alias = "dy", .doc = "the gradient of x"})},
       .params = {param("temperature", &SoftmaxBackwardArgs::temperature,
                        {.doc = "that of forward", .minimum = 0, .maximum = 1e30}),
                  param("log", &SoftmaxBackwardArgs::log, {.doc = "y is the probabilities' logarithms"}),
                  case_param<SoftmaxBackwardArgs>(
                      "pad", {.doc = "elements between rows", .minimum = 0, .maximum = 1e6})},
       .check = check,
       .choose = choose,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(softmax_backward, SoftmaxBackwardArgs, y, dy)

}  // namespace rooftile
