// A case made concrete: inputs on the host and a judge of the outputs; then the same tensors on a device.
#pragma once

#include <memory>
#include <optional>
#include <span>
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
  std::vector<TensorSpec> inputs;   // of the slots that are read
  std::vector<TensorSpec> outputs;  // of the `out` slots
  double input_bytes = 0;
  double output_bytes = 0;
};
// Checks the case against the operator's slots; allocates nothing.
[[nodiscard]] Result<TensorPlan> plan_tensors(const OperatorDescriptor& op, const OperatorCases& cases,
                                              const Case& c);

// Made once per case and shared by all rungs. Inputs and judge are made at the first call that asks;
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

  // Of the slots that are read, without gaps; an absent one's is empty.
  [[nodiscard]] Result<const std::vector<HostTensor>*> inputs();
  [[nodiscard]] bool has_inputs() const { return inputs_.has_value(); }
  void set_inputs(std::vector<HostTensor> tensors) { inputs_ = std::move(tensors); }
  // The fill of an input that is drawn by one, which a GPU can do itself.
  [[nodiscard]] std::optional<Fill> fill_of(std::size_t input) const;
  // Draws an input on the host, those in front of it being there.
  [[nodiscard]] Result<HostTensor> draw(std::size_t input, std::span<const HostTensor> before) const;

  // Of the slots that a call writes. Counts the seconds that judging took.
  [[nodiscard]] Result<Judgement> judge(std::span<const HostTensor> outputs);
  [[nodiscard]] double judging_s() const { return judging_s_; }

 private:
  [[nodiscard]] Status make_judge();

  const OperatorDescriptor* op_ = nullptr;
  const OperatorCases* cases_ = nullptr;
  Case case_;
  CasePlan plan_;
  std::vector<TensorSpec> outputs_;
  double tensor_bytes_ = 0;
  std::optional<std::vector<HostTensor>> inputs_;
  Judge judge_;
  double judging_s_ = 0;
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

// A slot's tensor in device memory.
struct DeviceTensor {
  const TensorSlot* slot = nullptr;
  TensorSpec spec;
  Extents strides;
  GuardedBuffer buffer{};  // without bytes where the memory is another slot's, or the slot absent
  void* data = nullptr;    // the first element
  std::optional<std::size_t> memory_of{};  // in place: the slot whose memory it is
  std::optional<std::size_t> input{};      // its place among the slots that are read
  bool absent = false;
  bool overwritten = false;  // an input that the call writes: inout, or in place

  [[nodiscard]] bool dense() const { return strides == contiguous_strides(spec.shape); }
  // Memory that nobody has written before the call.
  [[nodiscard]] bool is_fresh() const { return !input && !memory_of; }
};

// What lies between the elements of a strided input: NaN in every float, so that whoever reads it is seen.
inline constexpr std::byte kInputGap{0xFF};

// The elements of a tensor from the image of its memory after a call. `gap`: what the call found between the elements of a
// tensor that nobody had written. Where that, or an input's kInputGap, has changed, `outside` names the first byte.
[[nodiscard]] Result<HostTensor> elements_after_call(const std::vector<std::byte>& image,
                                                     const DeviceTensor& tensor, int gap,
                                                     std::string& outside);

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
  // In slot order.
  [[nodiscard]] const std::vector<DeviceTensor>& tensors() const { return tensors_; }

  // Outputs, and the inputs that a launch overwrites, as they must be before one: `value` in every byte of the outputs.
  [[nodiscard]] Status prepare(int value);
  // The same for the overwritten inputs alone, quickly: enqueued on the stream, from copies that it owns. Null: there
  // are none.
  [[nodiscard]] Result<std::function<Status()>> make_renewal();
  // Inputs and guards as they were before any launch.
  [[nodiscard]] Status restore();
  // What the slots that are written hold, in slot order. Bytes between strided elements that are not `gap` any more are
  // named in `outside`.
  [[nodiscard]] Result<std::vector<HostTensor>> download_written(int gap, std::string& outside) const;
  // Empty, or which input that is not written to has changed, and where.
  [[nodiscard]] Result<std::string> changed_input() const;
  [[nodiscard]] Result<Scratch> make_scratch(const WorkspaceSpec& spec) const;  // the zeroed part is zero

 private:
  [[nodiscard]] Status add_tensor(const TensorSlot& slot, const TensorSpec& spec, const Extents& strides,
                                  bool absent);
  // Where the host has them already they are uploaded; a GPU draws those that a fill draws itself.
  [[nodiscard]] Status fill_inputs(bool overwritten_alone);
  [[nodiscard]] Status upload(const DeviceTensor& tensor, const HostTensor& values) const;
  [[nodiscard]] Result<HostTensor> draw_on_device(const DeviceTensor& tensor, Fill fill) const;

  HostProblem* host_ = nullptr;
  DeviceProperties properties_;
  Stream stream_;
  std::vector<DeviceTensor> tensors_;
  AnyArgs args_;
};

}  // namespace rooftile::lab
