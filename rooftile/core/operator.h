// The operator descriptor: what an operator takes, and its rungs.
//
// One descriptor per operator says once what the CLI, the lab, the docs and the bindings need to know.
// `supports` and `choose` are the only dispatchers: nothing else decides which kernel runs.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/device.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/params.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

// An operator's typed arguments (ReduceArgs) without their type.
class AnyArgs {
 public:
  AnyArgs() = default;
  template <class Args>
  static AnyArgs of(Args args) {
    AnyArgs any;
    any.value_ = std::move(args);
    return any;
  }
  // Precondition: built from the same Args.
  template <class Args>
  [[nodiscard]] const Args& as() const {
    return *std::any_cast<Args>(&value_);
  }

 private:
  std::any value_;
};

enum class SlotDirection { in, out };

struct TensorSlot {
  std::string name;
  SlotDirection direction = SlotDirection::in;
  int min_rank = 0;
  int max_rank = kMaxRank;
  DTypeSet dtypes{};
  std::string doc{};
};

// What an output tensor must be for given inputs.
struct TensorSpec {
  DType dtype = DType::f32;
  Extents shape;
};

// How far the results of two runs on the same input may differ.
enum class Determinism { run_to_run, not_guaranteed };

enum class RungKind {
  gpu,  // a kernel: runs on cuda and on the simulated SM
  cpu,  // host code
};

// The arch a kernel is written for: `minimum` 0 runs anywhere; `exact` means the arch-specific target
// (sm_90a).
struct ArchNeed {
  int minimum = 0;
  bool exact = false;
};

// Enqueues one run: no allocation, no synchronisation on cuda.
using LaunchFn = std::function<Status(StreamRef, const DeviceProperties&, const AnyArgs&, const Workspace&)>;
using SupportsFn = std::function<std::string(const AnyArgs&, const DeviceProperties&)>;
using WorkspaceFn = std::function<WorkspaceSpec(const AnyArgs&, const DeviceProperties&)>;

// One launch function per target; an empty one is a target that is not built into this program.
struct TargetLaunches {
  LaunchFn cuda{};
  LaunchFn sim{};
  LaunchFn cpu{};
  LaunchFn
      checked{};  // the simulated SM with instrumented accesses (sim/checked/); asked for by the lab alone
};

// What a rung promises of its accesses on the simulated SM, on the case that `sim` takes by itself. The
// metrics are those of `sim --json`'s totals, and bytes_moved_over_needed.
struct AccessExpectation {
  std::string metric;  // "global_store_sectors_per_request"
  double at_least = 0;
  double at_most = 0;
};

struct RungRow {
  std::string id;  // names the mechanism: "warp_shuffle"
  RungKind kind = RungKind::gpu;
  std::string idea;      // the one idea, one sentence
  std::string change{};  // what changed since the rung before
  std::string source{};  // paper or seed
  ArchNeed arch{};
  Determinism determinism = Determinism::run_to_run;
  SupportsFn supports{};    // empty text, or why not; null: whatever the operator takes
  WorkspaceFn workspace{};  // null: none
  TargetLaunches launch{};
  std::vector<AccessExpectation> expects{};
  // A lesson's mistake, in words ("a race: ..."): nobody dispatches to such a rung, verifies it or times it;
  // the checked simulated SM runs it and must find the mistake. Empty: the rung is right.
  std::string wrong_on_purpose{};
};

// A vendor's implementation of the same operator: an opponent, never a dispatch target.
struct PeerRow {
  std::string operator_name;
  std::string id;       // "cub"
  std::string version;  // "CUB 3.0.1"
  SupportsFn supports{};
  WorkspaceFn workspace{};
  LaunchFn launch{};  // on cuda
};

struct OperatorDescriptor {
  std::string name;
  std::string summary;  // one line
  std::string maths;    // what it computes
  std::string model;    // bytes and flops, in words
  std::string source;   // paper or seed
  std::vector<TensorSlot> slots;
  std::vector<ParamSpec> params;
  // Typed arguments from tensors in slot order. Checks everything that the operator's contract asks for.
  std::function<Result<AnyArgs>(std::span<const TensorView> tensors, const Params& params)> make_args;
  // The outputs that inputs of these shapes and dtypes have.
  std::function<Result<std::vector<TensorSpec>>(std::span<const TensorSpec> inputs, const Params& params)>
      infer_outputs;
  std::vector<RungRow> rungs;
  // The id of the rung that the public API takes on this device.
  std::function<std::string(const AnyArgs&, const DeviceProperties&)> choose;

  [[nodiscard]] const RungRow* find_rung(std::string_view id) const;
  [[nodiscard]] std::vector<std::string> rung_ids() const;
};

// The launch function of a rung on a kind of device; null where it is not built or of another kind.
[[nodiscard]] const LaunchFn& launch_for(const RungRow& rung, DeviceKind kind);

// Empty, or why this rung cannot run on such a device whatever the arguments: not built, wrong kind, arch.
[[nodiscard]] std::string unavailable_reason(const RungRow& rung, const DeviceProperties& device);

// Empty, or why this rung does not serve this call: unavailable_reason, then what is wrong on purpose, then
// the row's own `supports`.
[[nodiscard]] std::string unsupported_reason(const RungRow& rung, const AnyArgs& args,
                                             const DeviceProperties& device);

[[nodiscard]] WorkspaceSpec workspace_for(const RungRow& rung, const AnyArgs& args,
                                          const DeviceProperties& device);

// What an operator's public functions do, once for all operators: choose, then workspace, then launch. Errors
// carry the operator's name.
[[nodiscard]] Result<WorkspaceSpec> chosen_workspace(const OperatorDescriptor& op, const AnyArgs& args,
                                                     const DeviceProperties& device);
[[nodiscard]] Status run_chosen(const OperatorDescriptor& op, Context& context, const AnyArgs& args);
[[nodiscard]] Status run_chosen(const OperatorDescriptor& op, StreamRef stream, const AnyArgs& args,
                                const Workspace& workspace);
// One rung by name, with a workspace of the Context.
[[nodiscard]] Status run_rung(const OperatorDescriptor& op, const RungRow& rung, Context& context,
                              const AnyArgs& args);

// Typed functions as the registry stores them.
template <class Args>
LaunchFn erase(Status (*launch)(StreamRef, const DeviceProperties&, const Args&, const Workspace&)) {
  if (launch == nullptr) return {};
  return [launch](StreamRef stream, const DeviceProperties& device, const AnyArgs& args,
                  const Workspace& workspace) { return launch(stream, device, args.as<Args>(), workspace); };
}
template <class Args>
SupportsFn erase(std::string (*supports)(const Args&, const DeviceProperties&)) {
  return [supports](const AnyArgs& args, const DeviceProperties& device) {
    return supports(args.as<Args>(), device);
  };
}
template <class Args>
WorkspaceFn erase(WorkspaceSpec (*workspace)(const Args&, const DeviceProperties&)) {
  return [workspace](const AnyArgs& args, const DeviceProperties& device) {
    return workspace(args.as<Args>(), device);
  };
}

}  // namespace rooftile
