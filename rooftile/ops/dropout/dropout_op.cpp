#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/dropout/dropout_plan.h"
#include "rooftile/ops/dropout/rungs.h"

namespace rooftile {
namespace {

Extents mask_shape(const DropoutArgs& args) {
  if (args.form == MaskForm::none) return {0};
  return args.form == MaskForm::bytes ? args.x.shape : Extents{ceil_div(args.x.numel(), 8)};
}
Status spec_of_mask(const DropoutArgs& args, TensorSpec& spec) {
  spec = {DType::u8, mask_shape(args)};
  return {};
}

Status check(const DropoutArgs& args) {
  if (!is_absent(args.bias) && (args.x.rank() == 0 || args.bias.shape[0] != dropout_plan::columns_of(args)))
    return invalid_argument("bias must have an element for each column of x");
  if (!is_absent(args.kept)) {
    if (args.form == MaskForm::none)
      return invalid_argument("kept needs form: it says whether they are bytes or bits");
    if (!(args.kept.shape == mask_shape(args)))
      return invalid_argument("kept must have the shape " + mask_shape(args).to_string() + ", as form says");
  }
  if (!is_absent(args.counter) && args.counter.numel() != 1)
    return invalid_argument("counter must have one element");
  if (args.replay && is_absent(args.counter))
    return invalid_argument("replay is of a counter: without one the stream is offset, every time");
  if (!dropout_plan::geometry(args).fits) {
    return unsupported(
        "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
        "copy without gaps");
  }
  return {};
}

std::string_view supports_dense(const DropoutArgs& args, const DeviceProperties&) {
  return dropout_plan::is_dense(args) ? "" : "serves x, residual and y without gaps: see strided_rows";
}
std::string_view supports_vectors(const DropoutArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_dense(args, device); !reason.empty()) return reason;
  return dropout_plan::has_vectors(args)
             ? ""
             : "needs x, residual and y that begin at multiples of 16 bytes: see philox_grouped";
}

std::string_view choose(const DropoutArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (!dropout_plan::is_dense(args)) return "strided_rows";
  return supports_vectors(args, device).empty() ? "philox_vectorized" : "philox_grouped";
}

std::vector<Rung<DropoutArgs>> rung_table() {
  return {
      {.rung = dropout_rungs::serial,
       .idea = "A loop over elements: the definition.",
       .change = "the start of the CPU climb"},
      {.rung = dropout_rungs::threaded, .idea = "Every core has ranges of elements.", .change = "all cores"},
      {.rung = dropout_rungs::state_per_thread,
       .idea = "A thread for each element calls Philox and takes one of four words.",
       .change = "the start of the GPU climb",
       .supports = supports_dense,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = dropout_rungs::philox_grouped,
       .idea = "A thread for the elements of a vector uses every word of its calls.",
       .change = "a fourth of the multiplications",
       .supports = supports_dense,
       .expects = {{"global_load_sectors_per_request", 15, 16}}},
      {.rung = dropout_rungs::philox_vectorized,
       .idea = "A vector of 16-bit elements, two of f32, are on their way before Philox is called.",
       .change = "16 bytes for each load and store",
       .supports = supports_vectors,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = dropout_rungs::strided_rows,
       .idea = "A thread asks for the row and the column of each of its vectors.",
       .change = "rows may lie as those of a view do",
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
  };
}

}  // namespace

const OperatorDescriptor& dropout_operator() {
  static const OperatorDescriptor op = describe<DropoutArgs>(
      {.name = "dropout",
       .summary =
           "elements left out at random, the others scaled; with bias and residual, and a mask as bytes or bits",
       .maths =
           "y = residual + (kept ? (x + bias) * scale : 0), kept with probability 1 - p by Philox of the element's place.",
       .model = "reads every element once and writes it once: bound by memory.",
       .source = "Srivastava et al., Dropout (2014); Salmon et al., Parallel Random Numbers (2011)",
       .slots =
           {in("x", &DropoutArgs::x, {.dtypes = {DType::f32, DType::f16, DType::bf16}, .doc = "any shape"}),
            in("bias", &DropoutArgs::bias,
               {.dtype_of = "x",
                .min_rank = 1,
                .max_rank = 1,
                .dense = true,
                .optional = true,
                .doc = "[n]: added to x"}),
            in("residual", &DropoutArgs::residual,
               {.dtype_of = "x", .shape_of = "x", .optional = true, .doc = "added last"}),
            in("kept", &DropoutArgs::kept,
               {.dtypes = {DType::u8}, .dense = true, .optional = true, .doc = "a mask, in place of Philox"}),
            inout("counter", &DropoutArgs::counter,
                  {.dtypes = {DType::i64},
                   .dense = true,
                   .optional = true,
                   .doc = "[1]: part of the stream, raised by one"}),
            out("y", &DropoutArgs::y, {.dtype_of = "x", .shape_of = "x", .may_alias = "x", .doc = "results"}),
            out("mask", &DropoutArgs::mask, spec_of_mask,
                {.dtypes = {DType::u8},
                 .dense = true,
                 .optional = true,
                 .doc = "which were kept, as form says"})},
       .params =
           {param("p", &DropoutArgs::p,
                  {.doc = "the probability to be left out", .minimum = 0, .maximum = 1}),
            param("training", &DropoutArgs::training, {.doc = "false: all are kept"}),
            param("upscale", &DropoutArgs::upscale,
                  {.doc = "training scales by 1 / (1 - p); else inference scales by 1 - p"}),
            param("form", &DropoutArgs::form, {.doc = "of the mask"}),
            param("seed", &DropoutArgs::seed, {.doc = "Philox's key"}),
            param("offset", &DropoutArgs::offset, {.doc = "the stream"}),
            param("replay", &DropoutArgs::replay, {.doc = "the stream of the call before; counter stays"}),
            case_param<DropoutArgs>("biases", {.doc = "1: with a bias", .minimum = 0, .maximum = 1}),
            case_param<DropoutArgs>("residuals", {.doc = "1: with a residual", .minimum = 0, .maximum = 1}),
            case_param<DropoutArgs>("given", {.doc = "1: kept is given", .minimum = 0, .maximum = 1}),
            case_param<DropoutArgs>("counted", {.doc = "1: with a counter", .minimum = 0, .maximum = 1})},
       .check = check,
       .choose = choose,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_2(dropout, DropoutArgs, x)

}  // namespace rooftile
