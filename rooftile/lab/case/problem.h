// A case made concrete: inputs on the host and what the outputs must be; then the same on a device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/case.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/stream.h"
#include "rooftile/lab/case/guarded_buffer.h"

namespace rooftile::lab {

// Above this many bytes of tensors a case would keep the simulated SM busy for minutes: it is refused there.
inline constexpr double kLargestSimulatedBytes = 64.0 * 1024 * 1024;

// The tensors of a case, in slot order within each direction.
struct TensorPlan {
  CasePlan work;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  double input_bytes = 0;
  double output_bytes = 0;
};
// Checks the case against the operator's slots; allocates nothing.
[[nodiscard]] Result<TensorPlan> plan_tensors(const OperatorDescriptor& op, const OperatorCases& cases,
                                              const Case& c);

// Made once per case and shared by all rungs. Inputs and reference are computed at the first call that asks;
// inputs that a GPU drew are taken from it.
class HostProblem {
 public:
  // Checks the case against the operator's slots and against this machine's memory; allocates nothing.
  static Result<HostProblem> create(const OperatorDescriptor& op, const OperatorCases& cases, Case c);

  [[nodiscard]] const OperatorDescriptor& op() const { return *op_; }
  [[nodiscard]] const Case& the_case() const { return case_; }
  [[nodiscard]] const CasePlan& plan() const { return plan_; }
  [[nodiscard]] std::vector<TensorSpec> input_specs() const;
  [[nodiscard]] const std::vector<TensorSpec>& outputs() const { return outputs_; }
  [[nodiscard]] double tensor_bytes() const { return tensor_bytes_; }  // of inputs and outputs together

  [[nodiscard]] Result<const std::vector<HostTensor>*> inputs();
  [[nodiscard]] bool has_inputs() const { return inputs_.has_value(); }
  void set_inputs(std::vector<HostTensor> tensors) { inputs_ = std::move(tensors); }
  [[nodiscard]] Result<const std::vector<Expected>*> expected();

 private:
  const OperatorDescriptor* op_ = nullptr;
  const OperatorCases* cases_ = nullptr;
  Case case_;
  CasePlan plan_;
  std::vector<TensorSpec> outputs_;
  double tensor_bytes_ = 0;
  std::optional<std::vector<HostTensor>> inputs_;
  std::optional<std::vector<Expected>> expected_;
};

// A rung's workspace between guards.
struct Scratch {
  GuardedBuffer any;
  GuardedBuffer zeroed;
  GuardedBuffer error_word;  // 0 as long as no kernel reports anything
  [[nodiscard]] Workspace workspace() const {
    return {any.data(), any.bytes(), zeroed.data(), zeroed.bytes(),
            static_cast<std::uint32_t*>(error_word.data())};
  }
};

// The tensors of a case in device memory, each off its alignment by the case's offset.
class DeviceProblem {
 public:
  // The host problem is kept by reference. The arguments have passed the operator's make_args.
  static Result<DeviceProblem> create(HostProblem& host, Device device);

  [[nodiscard]] HostProblem& host() const { return *host_; }
  [[nodiscard]] StreamRef stream() const { return stream_.ref(); }
  [[nodiscard]] const DeviceProperties& properties() const { return properties_; }
  // Rungs plan their grids for so many SMs: the simulated SM repeats what a GPU launched.
  void set_multiprocessors(int count) { properties_.multiprocessors = count; }
  [[nodiscard]] ArgsRef args() const { return args_; }
  // One launch on this problem's stream. The plan is kept by reference.
  [[nodiscard]] AnyCall call(const RungPlan& plan, const Workspace& workspace) const {
    return {stream(), &properties_, args_, &plan, workspace};
  }
  [[nodiscard]] const std::vector<GuardedBuffer>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<GuardedBuffer>& outputs() const { return outputs_; }
  // The input that the i-th output is, in place; none: it has memory of its own. (Its entry of outputs() is empty then.)
  [[nodiscard]] std::optional<std::size_t> aliased_input(std::size_t output) const {
    return aliases_[output];
  }
  [[nodiscard]] bool is_written(std::size_t input) const;
  // Inputs that a launch in place overwrote, as they were.
  [[nodiscard]] Status renew_written_inputs();
  // The name of the i-th input's or output's slot.
  [[nodiscard]] const std::string& slot_name(SlotDirection direction, std::size_t i) const;

  // Inputs and guards as they were before any launch.
  [[nodiscard]] Status restore();
  [[nodiscard]] Result<HostTensor> download_output(std::size_t i) const;
  [[nodiscard]] Result<Scratch> make_scratch(const WorkspaceSpec& spec) const;  // the zeroed part is zero

 private:
  // The GPU draws them itself; the others get the host's.
  [[nodiscard]] Status fill_inputs();
  [[nodiscard]] Status draw_inputs();
  [[nodiscard]] Status upload_inputs();
  HostProblem* host_ = nullptr;
  DeviceProperties properties_;
  Stream stream_;
  std::vector<GuardedBuffer> inputs_;
  std::vector<GuardedBuffer> outputs_;
  std::vector<std::optional<std::size_t>> aliases_;  // by output
  AnyArgs args_;
};

}  // namespace rooftile::lab
