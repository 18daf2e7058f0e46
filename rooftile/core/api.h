// What the public header of an operator stands on: views, Tensors, Context, workspaces, Status; and the forms of a call,
// which are the same for every operator. The descriptor, which the header only names, is in core/operator.h.
//
// ROOFTILE_CALLS(reduce, ReduceArgs, in) declares, for an operator with the input slot `in` and one output:
//
//   Status reduce(Context&, const ReduceArgs&);
//       Enqueues on the Context's stream, with the Context's workspace. Where the Context has one that suffices (after
//       the first call, or Context::reserve) nothing is allocated.
//   Result<Tensor> reduce(Context&, const ConstTensorView& in, ReduceArgs options = {});
//       The same with an output that is allocated as reduce_output says, on the inputs' device. The options have the
//       parameters, and optional inputs: the other tensors are set here.
//   Result<TensorSpec> reduce_output(const ConstTensorView& in, ReduceArgs options = {});
//       Shape and dtype of the output. The input needs no memory.
//   Result<WorkspaceSpec> reduce_workspace(const ReduceArgs&, Device);
//       The scratch memory of a call. The tensors need no memory yet: of one whose data is null nothing is assumed but
//       that it will be aligned to its elements.
//   Status reduce(StreamRef, const ReduceArgs&, const Workspace&);
//       Enqueues with the caller's workspace: no allocation, no synchronisation.
//   const OperatorDescriptor& reduce_operator();
//
// ROOFTILE_CALLS_OF_2(select, SelectArgs, in) declares the same for an operator with two outputs, _OF_3 with three: in place of
// the Tensor and of the TensorSpec there are std::arrays of as many.
//
// Every call may be captured into a graph (Graph::record; by another's capture, with a workspace that was there before).
// Errors carry the line of the call.
#pragma once

#include <array>

#include "rooftile/core/context.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct OperatorDescriptor;
class Registry;
using TwoTensors = std::array<Tensor, 2>;
using TwoSpecs = std::array<TensorSpec, 2>;
using ThreeTensors = std::array<Tensor, 3>;
using ThreeSpecs = std::array<TensorSpec, 3>;

}  // namespace rooftile

#define ROOFTILE_CALLS(op, Args, ...) \
  ROOFTILE_CALLS_(op, Args, ::rooftile::Tensor, ::rooftile::TensorSpec, __VA_ARGS__)
#define ROOFTILE_CALLS_OF_2(op, Args, ...) \
  ROOFTILE_CALLS_(op, Args, ::rooftile::TwoTensors, ::rooftile::TwoSpecs, __VA_ARGS__)
#define ROOFTILE_CALLS_OF_3(op, Args, ...) \
  ROOFTILE_CALLS_(op, Args, ::rooftile::ThreeTensors, ::rooftile::ThreeSpecs, __VA_ARGS__)

#define ROOFTILE_CALLS_(op, Args, Outputs, Specs, ...)                                        \
  [[nodiscard]] ::rooftile::Status op(                                                        \
      ::rooftile::Context& context, const Args& args,                                         \
      ::rooftile::SourceLocation caller = ::rooftile::SourceLocation::current());             \
  [[nodiscard]] ::rooftile::Result<Outputs> op(                                               \
      ::rooftile::Context& context, ROOFTILE_INPUTS_(__VA_ARGS__), Args options = {},         \
      ::rooftile::SourceLocation caller = ::rooftile::SourceLocation::current());             \
  [[nodiscard]] ::rooftile::Result<Specs> op##_output(                                        \
      ROOFTILE_INPUTS_(__VA_ARGS__), Args options = {},                                       \
      ::rooftile::SourceLocation caller = ::rooftile::SourceLocation::current());             \
  [[nodiscard]] ::rooftile::Result<::rooftile::WorkspaceSpec> op##_workspace(                 \
      const Args& args, ::rooftile::Device device,                                            \
      ::rooftile::SourceLocation caller = ::rooftile::SourceLocation::current());             \
  [[nodiscard]] ::rooftile::Status op(                                                        \
      ::rooftile::StreamRef stream, const Args& args, const ::rooftile::Workspace& workspace, \
      ::rooftile::SourceLocation caller = ::rooftile::SourceLocation::current());             \
  const ::rooftile::OperatorDescriptor& op##_operator();

// "const ConstTensorView& a, const ConstTensorView& b" of "a, b", up to four.
#define ROOFTILE_INPUTS_(...) ROOFTILE_INPUTS_OF_(__VA_ARGS__, 4, 3, 2, 1, 0)(__VA_ARGS__)
#define ROOFTILE_INPUTS_OF_(a, b, c, d, count, ...) ROOFTILE_CONCAT(ROOFTILE_INPUTS_, count)
#define ROOFTILE_INPUTS_1(a) const ::rooftile::ConstTensorView& a
#define ROOFTILE_INPUTS_2(a, b) ROOFTILE_INPUTS_1(a), ROOFTILE_INPUTS_1(b)
#define ROOFTILE_INPUTS_3(a, b, c) ROOFTILE_INPUTS_2(a, b), ROOFTILE_INPUTS_1(c)
#define ROOFTILE_INPUTS_4(a, b, c, d) ROOFTILE_INPUTS_3(a, b, c), ROOFTILE_INPUTS_1(d)
// "args.a = a; args.b = b;"
#define ROOFTILE_SET_INPUTS_(args, ...) ROOFTILE_SET_OF_(__VA_ARGS__, 4, 3, 2, 1, 0)(args, __VA_ARGS__)
#define ROOFTILE_SET_OF_(a, b, c, d, count, ...) ROOFTILE_CONCAT(ROOFTILE_SET_, count)
#define ROOFTILE_SET_1(args, a) (args).a = a;
#define ROOFTILE_SET_2(args, a, b) ROOFTILE_SET_1(args, a) ROOFTILE_SET_1(args, b)
#define ROOFTILE_SET_3(args, a, b, c) ROOFTILE_SET_2(args, a, b) ROOFTILE_SET_1(args, c)
#define ROOFTILE_SET_4(args, a, b, c, d) ROOFTILE_SET_3(args, a, b, c) ROOFTILE_SET_1(args, d)
