#include "rooftile/lab/case/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/case/device_fill.h"
#include "rooftile/lab/case/fill.h"

namespace rooftile::lab {
namespace {

// Inputs are held twice on cpu and sim (host copy and device copy), and the reference may hold two f64
// tensors per output: what must fit is estimated with this much to spare.
constexpr double kUsableMemory = 0.9;

Result<double> bytes_of(DType dtype, const Extents& shape) {
  ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(shape, size_of(dtype)));
  return static_cast<double>(numel) * static_cast<double>(size_of(dtype));
}

std::vector<const TensorSlot*> slots_of(const OperatorDescriptor& op, SlotDirection direction) {
  std::vector<const TensorSlot*> slots;
  for (const TensorSlot& slot : op.slots) {
    if (slot.direction == direction) slots.push_back(&slot);
  }
  return slots;
}

// The input, counted in slot order, that an output slot may be.
std::optional<std::size_t> input_of(const OperatorDescriptor& op, const TensorSlot& output) {
  const std::vector<const TensorSlot*> inputs = slots_of(op, SlotDirection::in);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->name == output.may_alias) return i;
  }
  return std::nullopt;
}

Status check_memory(double bytes, const DeviceProperties& device) {
  const double available = static_cast<double>(device.memory_bytes);
  if (device.memory_bytes == 0 || bytes <= kUsableMemory * available) return {};
  return Status::error(StatusCode::out_of_memory,
                       fmt::format("the case needs {} on {}, which has {}: choose a smaller --shape",
                                   format_bytes(bytes), to_string(device.device), format_bytes(available)));
}

Status check_slots(const OperatorDescriptor& op, const std::vector<InputPlan>& inputs) {
  const std::vector<const TensorSlot*> slots = slots_of(op, SlotDirection::in);
  if (slots.size() != inputs.size()) {
    return internal_error(
        fmt::format("the case plans {} inputs, the operator takes {}", inputs.size(), slots.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]->dtypes.contains(inputs[i].dtype)) {
      return invalid_argument(fmt::format("{} does not take {}: choose one of {}", slots[i]->name,
                                          to_string(inputs[i].dtype), slots[i]->dtypes.to_string()));
    }
  }
  return {};
}

}  // namespace

Result<TensorPlan> plan_tensors(const OperatorDescriptor& op, const OperatorCases& cases, const Case& c) {
  for (const auto& [key, value] : c.shape) {
    if (value < 0) {
      return invalid_argument(fmt::format("shape {}={} is negative: an extent is 0 or more", key, value))
          .with_operator(op.name);
    }
  }
  Result<CasePlan> work = cases.plan(c);
  if (!work.ok()) return work.status().with_operator(op.name);
  if (Status status = check_slots(op, work->inputs); !status.ok()) return status.with_operator(op.name);

  TensorPlan plan;
  for (const InputPlan& input : work->inputs) {
    plan.inputs.push_back({input.dtype, input.shape});
    Result<double> bytes = bytes_of(input.dtype, input.shape);
    if (!bytes.ok()) return bytes.status().with_operator(op.name);
    plan.input_bytes += *bytes;
  }
  Result<std::vector<TensorSpec>> outputs = op.infer_outputs(plan.inputs, c.params);
  if (!outputs.ok()) return outputs.status().with_operator(op.name);
  for (const TensorSpec& output : *outputs) {
    Result<double> bytes = bytes_of(output.dtype, output.shape);
    if (!bytes.ok()) return bytes.status().with_operator(op.name);
    plan.output_bytes += *bytes;
  }
  const auto slots = static_cast<std::ptrdiff_t>(slots_of(op, SlotDirection::out).size());
  if (slots != std::ssize(*outputs)) {
    return internal_error(
               fmt::format("infer_outputs gives {} outputs, there are {} slots", outputs->size(), slots))
        .with_operator(op.name);
  }
  plan.outputs = std::move(*outputs);
  plan.work = std::move(*work);
  return plan;
}

Result<HostProblem> HostProblem::create(const OperatorDescriptor& op, const OperatorCases& cases, Case c) {
  ROOFTILE_TRY_ASSIGN(TensorPlan plan, plan_tensors(op, cases, c));
  double reference_bytes = 0;
  for (const TensorSpec& output : plan.outputs) {
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(output.shape, size_of(output.dtype)));
    reference_bytes += 2.0 * static_cast<double>(numel) * sizeof(double);
  }
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* host, device_properties(kCpu));
  if (Status status = check_memory(plan.input_bytes + reference_bytes, *host); !status.ok()) {
    return status.with_operator(op.name);
  }
  HostProblem problem;
  problem.op_ = &op;
  problem.cases_ = &cases;
  problem.tensor_bytes_ = plan.input_bytes + plan.output_bytes;
  problem.outputs_ = std::move(plan.outputs);
  problem.plan_ = std::move(plan.work);
  problem.case_ = std::move(c);
  return problem;
}

std::vector<TensorSpec> HostProblem::input_specs() const {
  std::vector<TensorSpec> specs;
  for (const InputPlan& input : plan_.inputs) specs.push_back({input.dtype, input.shape});
  return specs;
}

Result<const std::vector<HostTensor>*> HostProblem::inputs() {
  if (!inputs_) {
    std::vector<HostTensor> tensors;
    for (const InputPlan& input : plan_.inputs) {
      ROOFTILE_TRY_ASSIGN(HostTensor tensor, HostTensor::create(input.dtype, input.shape));
      fill_tensor(tensor, case_.fill, case_.seed, tensors.size());
      tensors.push_back(std::move(tensor));
    }
    inputs_ = std::move(tensors);
  }
  return &*inputs_;
}

Result<const std::vector<Expected>*> HostProblem::expected() {
  if (!expected_) {
    ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* tensors, inputs());
    Result<std::vector<Expected>> expected = cases_->reference(case_, *tensors);
    if (!expected.ok()) return expected.status().with_operator(op_->name);
    if (expected->size() != outputs_.size()) {
      return internal_error(fmt::format("the reference gives {} outputs, the operator has {}",
                                        expected->size(), outputs_.size()))
          .with_operator(op_->name);
    }
    expected_ = std::move(*expected);
  }
  return &*expected_;
}

Result<DeviceProblem> DeviceProblem::create(HostProblem& host, Device device) {
  DeviceProblem problem;
  problem.host_ = &host;
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  problem.properties_ = *properties;
  if (device.kind == DeviceKind::sim && host.tensor_bytes() > kLargestSimulatedBytes) {
    return unsupported(
               fmt::format("the case holds {}, the simulated SM takes up to {}: choose a smaller --shape",
                           format_bytes(host.tensor_bytes()), format_bytes(kLargestSimulatedBytes)))
        .with_operator(host.op().name);
  }
  const double copies = device.kind == DeviceKind::cuda ? 1.0 : 2.0;
  if (Status status = check_memory(copies * host.tensor_bytes(), problem.properties_); !status.ok()) {
    return status.with_operator(host.op().name);
  }
  ROOFTILE_TRY_ASSIGN(problem.stream_, Stream::create(device));
  const StreamRef stream = problem.stream();
  const auto offset = static_cast<std::size_t>(host.the_case().offset);

  std::vector<TensorView> views;
  const std::vector<TensorSpec> specs = specs_by_slot(host.op(), host.input_specs(), host.outputs());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const TensorSpec& spec = specs[i];
    const TensorSlot& slot = host.op().slots[i];
    const bool is_input = is_read(slot);
    const std::optional<std::size_t> alias =
        !is_input && host.the_case().in_place ? input_of(host.op(), slot) : std::nullopt;
    ROOFTILE_TRY_ASSIGN(const double bytes, bytes_of(spec.dtype, spec.shape));
    ROOFTILE_TRY_ASSIGN(GuardedBuffer buffer,
                        GuardedBuffer::create(stream, alias ? 0 : static_cast<std::size_t>(bytes),
                                              offset * size_of(spec.dtype)));
    if (alias && *alias >= problem.inputs_.size())
      return internal_error("a case in place wants the slots of inputs in front of those of outputs");
    void* const data = alias ? problem.inputs_[*alias].data() : buffer.data();
    views.push_back(contiguous_view<void>(data, spec.dtype, device, spec.shape));
    if (!is_input) problem.aliases_.push_back(alias);
    (is_input ? problem.inputs_ : problem.outputs_).push_back(std::move(buffer));
  }
  if (host.the_case().in_place && std::none_of(problem.aliases_.begin(), problem.aliases_.end(),
                                               [](const auto& alias) { return alias; })) {
    return invalid_argument("no output may alias an input: there is nothing to do in place")
        .with_operator(host.op().name);
  }
  Result<AnyArgs> args = host.op().make_args(views, host.the_case().params);
  if (!args.ok()) return args.status().with_operator(host.op().name);
  problem.args_ = std::move(*args);
  ROOFTILE_TRY(problem.fill_inputs());
  return problem;
}

const std::string& DeviceProblem::slot_name(SlotDirection direction, std::size_t i) const {
  return slots_of(host_->op(), direction)[i]->name;
}

bool DeviceProblem::is_written(std::size_t input) const {
  return std::find(aliases_.begin(), aliases_.end(), std::optional(input)) != aliases_.end();
}

Status DeviceProblem::renew_written_inputs() {
  const bool any = std::any_of(aliases_.begin(), aliases_.end(), [](const auto& alias) { return alias; });
  return any ? fill_inputs() : Status();
}

Status DeviceProblem::fill_inputs() {
  return stream().device.kind == DeviceKind::cuda ? draw_inputs() : upload_inputs();
}

Status DeviceProblem::draw_inputs() {
  const std::vector<InputPlan>& plans = host_->plan().inputs;
  const Case& c = host_->the_case();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto count = static_cast<std::int64_t>(inputs_[i].bytes() / size_of(plans[i].dtype));
    ROOFTILE_TRY(cuda::lab_kernels::fill_elements(stream(), inputs_[i].data(), plans[i].dtype, count, c.fill,
                                                  c.seed, i));
  }
  if (host_->has_inputs()) return synchronize(stream());
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    ROOFTILE_TRY_ASSIGN(HostTensor tensor, HostTensor::create(plans[i].dtype, plans[i].shape));
    if (tensor.bytes() > 0) {
      ROOFTILE_TRY(copy(stream(), tensor.data(), kCpu, inputs_[i].data(), stream().device, tensor.bytes()));
    }
    tensors.push_back(std::move(tensor));
  }
  ROOFTILE_TRY(synchronize(stream()));
  host_->set_inputs(std::move(tensors));
  return {};
}

Status DeviceProblem::upload_inputs() {
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* tensors, host_->inputs());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const HostTensor& tensor = (*tensors)[i];
    if (tensor.bytes() == 0) continue;
    ROOFTILE_TRY(copy(stream(), inputs_[i].data(), stream().device, tensor.data(), kCpu, tensor.bytes()));
  }
  return synchronize(stream());
}

Status DeviceProblem::restore() {
  for (const std::vector<GuardedBuffer>* buffers : {&inputs_, &outputs_}) {
    for (const GuardedBuffer& buffer : *buffers) ROOFTILE_TRY(buffer.set_guards(stream()));
  }
  return fill_inputs();
}

Result<HostTensor> DeviceProblem::download_output(std::size_t i) const {
  const TensorSpec& spec = host_->outputs()[i];
  ROOFTILE_TRY_ASSIGN(HostTensor tensor, HostTensor::create(spec.dtype, spec.shape));
  if (tensor.bytes() > 0) {
    const void* const data = aliases_[i] ? inputs_[*aliases_[i]].data() : outputs_[i].data();
    ROOFTILE_TRY(copy(stream(), tensor.data(), kCpu, data, stream().device, tensor.bytes()));
    ROOFTILE_TRY(synchronize(stream()));
  }
  return tensor;
}

Result<Scratch> DeviceProblem::make_scratch(const WorkspaceSpec& spec) const {
  Scratch scratch;
  ROOFTILE_TRY_ASSIGN(scratch.any, GuardedBuffer::create(stream(), spec.bytes));
  ROOFTILE_TRY_ASSIGN(scratch.zeroed, GuardedBuffer::create(stream(), spec.zeroed_bytes));
  ROOFTILE_TRY_ASSIGN(scratch.error_word, GuardedBuffer::create(stream(), sizeof(std::uint32_t)));
  ROOFTILE_TRY(scratch.zeroed.poison(stream(), 0));
  ROOFTILE_TRY(scratch.error_word.poison(stream(), 0));
  ROOFTILE_TRY(synchronize(stream()));
  return scratch;
}

}  // namespace rooftile::lab
