// The operator descriptor: what an operator takes, and its rungs.
//
// One descriptor per operator says once what the CLI, the lab, the docs and the bindings need to know; describe.h makes
// it from the operator's own types. `supports`, `plan` and `choose` are the only dispatchers: nothing else decides which
// kernel runs, and how.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/any_args.h"
#include "rooftile/core/api.h"
#include "rooftile/core/args.h"
#include "rooftile/core/context.h"
#include "rooftile/core/device.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/params.h"
#include "rooftile/core/rung.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

enum class SlotDirection { in, out, inout };

struct TensorSlot {
  std::string name;
  SlotDirection direction = SlotDirection::in;
  int min_rank = 0;
  int max_rank = kMaxRank;
  DTypeSet dtypes{};
  std::string dtype_of{};  // its dtype is that of this slot
  std::string shape_of{};  // its shape is that of this slot
  // An output that may be one of these inputs itself: the same pointer, dtype and strides. Names, divided by spaces; the
  // first is the one that cases in place take.
  std::string may_alias{};
  bool dense = false;      // row-major without gaps
  bool optional = false;   // may be absent: a view without memory and dimensions
  bool free_ones = false;  // an output whose extents of 1 do not count: [3,1] is as good as [3]
  std::string doc{};
  // Of a call's arguments.
  std::function<ConstTensorView(ArgsRef)> view{};
  std::function<void(void* args, const TensorView&)> set{};
  // Of an `out` slot: what it is for a call's inputs and parameters. Its shape is asked of every call; its dtype is what
  // the operator allocates, where the slot allows several.
  std::function<Status(ArgsRef, TensorSpec&)> spec{};

  [[nodiscard]] std::string_view alias_of_cases() const {
    return std::string_view(may_alias).substr(0, may_alias.find(' '));
  }
};

[[nodiscard]] inline bool is_read(const TensorSlot& slot) { return slot.direction != SlotDirection::out; }
[[nodiscard]] inline bool is_written(const TensorSlot& slot) { return slot.direction != SlotDirection::in; }
[[nodiscard]] inline bool is_absent(const ConstTensorView& view) {
  return view.data == nullptr && view.rank() == 0;
}

// In a list of specs: an optional input that the call does not have. No tensor has such an extent.
[[nodiscard]] inline TensorSpec absent_spec() { return {DType::f32, Extents{-1}}; }
[[nodiscard]] inline bool is_absent(const TensorSpec& spec) { return spec.shape == Extents{-1}; }

// The views of a call in slot order, read once.
class SlotViews {
 public:
  static constexpr std::size_t kMost = 16;
  // Of the first kMost slots.
  SlotViews(const std::vector<TensorSlot>& slots, ArgsRef args);
  const ConstTensorView& operator[](std::size_t i) const { return views_[i]; }

 private:
  union {  // not initialised: a call pays for the slots that it has
    std::array<ConstTensorView, kMost> views_;
  };
};

// What of a call is there when it is checked.
enum class CallStage {
  complete,
  ordinary,    // complete, and is_ordinary() has said so
  no_memory,   // views may have no data yet: a question for a workspace
  inputs_only  // nor are there outputs: a question for their specs
};

// How far the results of two runs on the same input may differ.
enum class Determinism { run_to_run, not_guaranteed };

using LaunchFn = std::function<Status(const AnyCall&)>;
// Empty text, or why a call is not served: a literal, so that asking costs nothing.
using SupportsFn = std::function<std::string_view(ArgsRef, const DeviceProperties&)>;
using PlanFn = std::function<RungPlan(ArgsRef, const DeviceProperties&)>;

// One launch function per target; an empty one is a target that is not built into this program.
struct TargetLaunches {
  LaunchFn cuda{};
  LaunchFn sim{};
  LaunchFn cpu{};
  LaunchFn
      checked{};  // the simulated SM with instrumented accesses (sim/checked/); asked for by the lab alone
};

// What a rung promises of its accesses on the simulated SM, on the case that `sim` takes by itself. The metrics are
// those of `sim --json`'s totals, and bytes_moved_over_needed.
struct AccessExpectation {
  std::string metric;  // "global_store_sectors_per_request"
  double at_least = 0;
  double at_most = 0;
};

struct RungRow {
  std::string id;  // names the mechanism: "warp_shuffle"
  RungKind kind = RungKind::gpu;
  bool absent = false;   // this program describes the rung and was built without it
  std::string idea;      // the one idea, one sentence
  std::string change{};  // what changed since the rung before
  std::string source{};  // paper or page
  ArchNeed arch{};
  Determinism determinism = Determinism::run_to_run;
  SupportsFn supports{};  // null: whatever the operator takes
  PlanFn plan{};          // null: no workspace, no configuration
  TargetLaunches launch{};
  std::vector<AccessExpectation> expects{};
  // A lesson's mistake, in words ("a race: ..."): nobody dispatches to such a rung, verifies it or times it; the
  // checked simulated SM runs it and must find the mistake. Empty: the rung is right.
  std::string wrong_on_purpose{};
};

// Somebody else's implementation of the same operator: an opponent, never a dispatch target.
struct PeerRow {
  std::string operator_name;
  std::string id;       // "cub"
  std::string version;  // "CUB 3.0.1"
  SupportsFn supports{};
  PlanFn plan{};
  LaunchFn launch{};
  DeviceKind device = DeviceKind::cuda;  // where it runs
  // What comes before the first launch and is not timed, such as a search for the fastest algorithm: runs on the complete
  // call, and gives what is launched in place of `launch`. Null: nothing.
  std::function<Result<LaunchFn>(const AnyCall&)> prepare{};
};

using InferOutputs =
    std::function<Result<std::vector<TensorSpec>>(std::span<const TensorSpec> inputs, const Params& params)>;

// How arguments are kept, to know the same call again. Args that compare by ==, are trivially copyable and fit; they hold
// views and values and refer to nothing else. Null functions: of others.
struct KeptArgs {
  static constexpr std::size_t kBytes = 2048;
  void (*copy)(ArgsRef args, void* kept) = nullptr;
  bool (*equal)(ArgsRef args, const void* kept) = nullptr;
};

// Tells descriptors apart: no two have the same, a copy neither. One that moves takes it along.
class DescriptorNumber {
 public:
  DescriptorNumber() : value_(next()) {}
  DescriptorNumber(const DescriptorNumber&) : DescriptorNumber() {}
  DescriptorNumber(DescriptorNumber&& other) noexcept : value_(std::exchange(other.value_, next())) {}
  DescriptorNumber& operator=(DescriptorNumber other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~DescriptorNumber() = default;
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t next() noexcept;
  std::uint64_t value_;
};

// Not changed any more once it has been called: Contexts remember what was decided.
struct OperatorDescriptor {
  std::string name;
  std::string summary;  // one line
  std::string maths;    // what it computes
  std::string model;    // bytes and flops, in words
  std::string source;   // paper or page
  std::vector<TensorSlot> slots;
  std::vector<ParamSpec> params;
  // Everything that the operator's contract asks of a call on this device, as far as it is there. Allocates nothing
  // where it is ok.
  std::function<Status(ArgsRef, const SlotViews&, Device, CallStage)> check;
  // A quick look at a complete call: true only where the slots have nothing to say against it, no tensor is absent or
  // empty, and all are on this device. Any other call is left to check.
  std::function<bool(const SlotViews&, Device)> is_ordinary;
  // "in f32[8], out f32[1], op=sum": a call, for an error.
  std::function<std::string(ArgsRef)> describe;
  // Typed arguments from tensors in slot order (an absent one: a view without memory), checked on their device.
  std::function<Result<AnyArgs>(std::span<const TensorView> tensors, const Params& params)> make_args;
  // The tensors of the `out` slots for those of the slots that are read, in slot order (an absent one: absent_spec()).
  InferOutputs infer_outputs;
  // The same call with other tensors, in slot order; not checked.
  std::function<AnyArgs(ArgsRef, std::span<const TensorView> tensors)> with_tensors;
  std::vector<RungRow> rungs;
  // The id of the rung that the public API takes on this device.
  std::function<std::string_view(ArgsRef, const DeviceProperties&)> choose;
  // How choose() and the plan of its rung came about, for people: lines of text. Null: `supports` says it all.
  std::function<std::string(ArgsRef, const DeviceProperties&)> explain{};
  // A Context checks and plans a call that equals its last one no second time.
  KeptArgs kept_args{};
  DescriptorNumber number{};

  [[nodiscard]] const RungRow* find_rung(std::string_view id) const;
  [[nodiscard]] const TensorSlot* find_slot(std::string_view slot_name) const;
  [[nodiscard]] std::vector<std::string> rung_ids() const;
};

// The launch function of a rung on a kind of device; null where it is not built or of another kind.
[[nodiscard]] const LaunchFn& launch_for(const RungRow& rung, DeviceKind kind);

// Empty, or why a kernel with this need does not run on a device of this compute capability.
[[nodiscard]] std::string arch_reason(const ArchNeed& need, int compute_capability);

// Empty, or why this rung cannot run on such a device whatever the arguments: not built, wrong kind, arch.
[[nodiscard]] std::string unavailable_reason(const RungRow& rung, const DeviceProperties& device);

// Empty, or why this rung does not serve this call: unavailable_reason, then what is wrong on purpose, then the row's
// own `supports`.
[[nodiscard]] std::string unsupported_reason(const RungRow& rung, ArgsRef args,
                                             const DeviceProperties& device);

// Whether no output of a call has an element: then there is nothing to do, and no rung is launched.
[[nodiscard]] bool writes_nothing(const OperatorDescriptor& op, ArgsRef args);

// What a rung that serves the call needs for it.
[[nodiscard]] RungPlan plan_rung(const RungRow& rung, ArgsRef args, const DeviceProperties& device);

// The specs of an operator's slots, in slot order, from those of the slots that are read and of the `out` slots.
// Precondition: as many of each as there are such slots.
[[nodiscard]] std::vector<TensorSpec> specs_by_slot(const OperatorDescriptor& op,
                                                    std::span<const TensorSpec> inputs,
                                                    std::span<const TensorSpec> outputs);

// A descriptor, or the function that makes it: the latter is called only where exceptions become a Status.
class OperatorRef {
 public:
  OperatorRef(const OperatorDescriptor& made) : made_(&made) {}      // NOLINT(google-explicit-constructor)
  OperatorRef(const OperatorDescriptor& (*make)()) : make_(make) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const OperatorDescriptor& get() const { return made_ != nullptr ? *made_ : make_(); }

 private:
  const OperatorDescriptor* made_ = nullptr;
  const OperatorDescriptor& (*make_)() = nullptr;
};

// What an operator's public functions do, once for all operators: check, plan, workspace, launch. Errors carry the
// operator's name, the call and the caller's line. Nothing throws.
[[nodiscard]] Status run(OperatorRef op, Context& context, ArgsRef args,
                         SourceLocation caller = SourceLocation::current());
[[nodiscard]] Status run(OperatorRef op, StreamRef stream, ArgsRef args, const Workspace& workspace,
                         SourceLocation caller = SourceLocation::current());
[[nodiscard]] Result<WorkspaceSpec> workspace_of(OperatorRef op, ArgsRef args, Device device,
                                                 SourceLocation caller = SourceLocation::current());
// What the operator's outputs are, in slot order, as many as are asked for. `args` has no outputs.
[[nodiscard]] Status output_specs(OperatorRef op, ArgsRef args, std::span<TensorSpec> specs,
                                  SourceLocation caller = SourceLocation::current());
// Allocates the outputs, in slot order, on the device of the inputs, sets them in `args` (an Args, which has none yet)
// and runs.
[[nodiscard]] Status run_returning(OperatorRef op, Context& context, void* args, ArgsRef same_args,
                                   std::span<Tensor> outputs,
                                   SourceLocation caller = SourceLocation::current());
// What an operator gives, one or several, as run_returning and output_specs take them.
template <class T>
[[nodiscard]] std::span<T> as_span(T& one) {
  return {&one, 1};
}
template <class T, std::size_t kCount>
[[nodiscard]] std::span<T> as_span(std::array<T, kCount>& several) {
  return several;
}
// One rung by name, with a workspace of the Context.
[[nodiscard]] Status run_rung(const OperatorDescriptor& op, const RungRow& rung, Context& context,
                              ArgsRef args);

}  // namespace rooftile

// The public functions that ROOFTILE_CALLS declares (core/api.h), of an operator with one output, two or three, and the one that
// the registry calls.
#define ROOFTILE_ENTRY_POINTS(op, Args, ...) \
  ROOFTILE_ENTRY_POINTS_(op, Args, ::rooftile::Tensor, ::rooftile::TensorSpec, __VA_ARGS__)
#define ROOFTILE_ENTRY_POINTS_OF_2(op, Args, ...) \
  ROOFTILE_ENTRY_POINTS_(op, Args, ::rooftile::TwoTensors, ::rooftile::TwoSpecs, __VA_ARGS__)
#define ROOFTILE_ENTRY_POINTS_OF_3(op, Args, ...) \
  ROOFTILE_ENTRY_POINTS_(op, Args, ::rooftile::ThreeTensors, ::rooftile::ThreeSpecs, __VA_ARGS__)
#define ROOFTILE_ENTRY_POINTS_(op, Args, Outputs, Specs, ...)                                                \
  static_assert(::std::equality_comparable<Args>, "default the == of Args: a Context knows a call by it");   \
  ::rooftile::Status op(::rooftile::Context& context, const Args& args, ::rooftile::SourceLocation caller) { \
    return ::rooftile::run(op##_operator, context, ::rooftile::ArgsRef::of(args), caller);                   \
  }                                                                                                          \
  ::rooftile::Status op(::rooftile::StreamRef stream, const Args& args,                                      \
                        const ::rooftile::Workspace& workspace, ::rooftile::SourceLocation caller) {         \
    return ::rooftile::run(op##_operator, stream, ::rooftile::ArgsRef::of(args), workspace, caller);         \
  }                                                                                                          \
  ::rooftile::Result<::rooftile::WorkspaceSpec> op##_workspace(const Args& args, ::rooftile::Device device,  \
                                                               ::rooftile::SourceLocation caller) {          \
    return ::rooftile::workspace_of(op##_operator, ::rooftile::ArgsRef::of(args), device, caller);           \
  }                                                                                                          \
  ::rooftile::Result<Specs> op##_output(ROOFTILE_INPUTS_(__VA_ARGS__), Args options,                         \
                                        ::rooftile::SourceLocation caller) {                                 \
    ROOFTILE_SET_INPUTS_(options, __VA_ARGS__)                                                               \
    Specs specs;                                                                                             \
    ROOFTILE_TRY(::rooftile::output_specs(op##_operator, ::rooftile::ArgsRef::of(options),                   \
                                          ::rooftile::as_span(specs), caller));                              \
    return specs;                                                                                            \
  }                                                                                                          \
  ::rooftile::Result<Outputs> op(::rooftile::Context& context, ROOFTILE_INPUTS_(__VA_ARGS__), Args options,  \
                                 ::rooftile::SourceLocation caller) {                                        \
    ROOFTILE_SET_INPUTS_(options, __VA_ARGS__)                                                               \
    Outputs outputs;                                                                                         \
    ROOFTILE_TRY(::rooftile::run_returning(op##_operator, context, &options,                                 \
                                           ::rooftile::ArgsRef::of(options), ::rooftile::as_span(outputs),   \
                                           caller));                                                         \
    return outputs;                                                                                          \
  }                                                                                                          \
  ROOFTILE_REGISTER(op)
#define ROOFTILE_REGISTER(op) \
  void register_##op(::rooftile::Registry& registry) { registry.add(op##_operator()); }
