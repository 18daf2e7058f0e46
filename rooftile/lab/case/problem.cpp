#include "rooftile/lab/case/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/fill.h"
#include "rooftile/cases/judges.h"
#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/case/device_fill.h"
#include "rooftile/lab/case/strided.h"

namespace rooftile::lab {
namespace {

// Inputs are held twice on cpu and sim (host copy and device copy), and the reference may hold two f64
// tensors per output: what must fit is estimated with this much to spare.
constexpr double kUsableMemory = 0.9;

Result<double> bytes_of(DType dtype, const Extents& shape) {
  ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(shape, size_of(dtype)));
  return static_cast<double>(numel) * static_cast<double>(size_of(dtype));
}

template <class Predicate>
std::vector<const TensorSlot*> slots_where(const OperatorDescriptor& op, Predicate predicate) {
  std::vector<const TensorSlot*> slots;
  for (const TensorSlot& slot : op.slots) {
    if (predicate(slot)) slots.push_back(&slot);
  }
  return slots;
}
std::vector<const TensorSlot*> read_slots(const OperatorDescriptor& op) { return slots_where(op, is_read); }
std::vector<const TensorSlot*> out_slots(const OperatorDescriptor& op) {
  return slots_where(op, [](const TensorSlot& slot) { return slot.direction == SlotDirection::out; });
}

// The slot whose memory an output may be.
std::optional<std::size_t> slot_named(const OperatorDescriptor& op, std::string_view name) {
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    if (op.slots[i].name == name) return i;
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
  const std::vector<const TensorSlot*> slots = read_slots(op);
  if (slots.size() != inputs.size()) {
    return internal_error(
        fmt::format("the case plans {} inputs, the operator takes {}", inputs.size(), slots.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (inputs[i].absent && !slots[i]->optional)
      return internal_error(fmt::format("the case leaves out {}, which is not optional", slots[i]->name));
    if (!inputs[i].absent && !slots[i]->dtypes.contains(inputs[i].dtype)) {
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
    plan.inputs.push_back(input.absent ? absent_spec() : TensorSpec{input.dtype, input.shape});
    if (input.absent) continue;
    Result<double> bytes = bytes_of(input.dtype, plan.inputs.back().shape);
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
  const auto slots = static_cast<std::ptrdiff_t>(out_slots(op).size());
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
  for (const InputPlan& input : plan_.inputs)
    specs.push_back({input.dtype, input.absent ? Extents{0} : input.shape});
  return specs;
}

std::optional<Fill> HostProblem::fill_of(std::size_t input) const {
  const InputPlan& plan = plan_.inputs[input];
  if (plan.absent || plan.draw.fill) return std::nullopt;
  return plan.draw.fixed.value_or(case_.fill);
}

Result<HostTensor> HostProblem::draw(std::size_t input, std::span<const HostTensor> before) const {
  const InputPlan& plan = plan_.inputs[input];
  ROOFTILE_TRY_ASSIGN(HostTensor tensor, HostTensor::create(plan.dtype, input_specs()[input].shape));
  if (plan.absent) return tensor;
  if (const std::optional<Fill> fill = fill_of(input)) {
    fill_tensor(tensor, *fill, case_.seed, input);
  } else if (Status status = plan.draw.fill(tensor, draw_seed(case_.seed, input), before); !status.ok()) {
    return status.with_operator(op_->name);
  }
  if (plan.strides.empty()) return tensor;
  // Of elements that share a place (a stride of 0) the last one counts, for the reference, too.
  std::int64_t bad_gap = -1;
  return elements_of_image(strided_image(tensor, plan.strides, kInputGap), {tensor.dtype(), tensor.shape()},
                           plan.strides, kInputGap, bad_gap);
}

Result<const std::vector<HostTensor>*> HostProblem::inputs() {
  if (!inputs_) {
    std::vector<HostTensor> tensors;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      ROOFTILE_TRY_ASSIGN(HostTensor tensor, draw(i, tensors));
      tensors.push_back(std::move(tensor));
    }
    inputs_ = std::move(tensors);
  }
  return &*inputs_;
}

Status HostProblem::make_judge() {
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* tensors, inputs());
  if (cases_->judge) {
    ROOFTILE_TRY_ASSIGN(judge_, cases_->judge(case_, *tensors));
    return {};
  }
  const std::vector<const TensorSlot*> written = slots_where(*op_, is_written);
  ROOFTILE_TRY_ASSIGN(std::vector<Expected> expected, cases_->reference(case_, *tensors));
  if (expected.size() != written.size()) {
    return internal_error(
        fmt::format("the reference gives {} outputs, the operator has {}", expected.size(), written.size()));
  }
  std::vector<std::string> names;
  for (const TensorSlot* slot : written) names.push_back(slot->name);
  judge_ = element_by_element(std::move(names), std::move(expected));
  return {};
}

Result<Judgement> HostProblem::judge(std::span<const HostTensor> outputs) {
  const auto start = std::chrono::steady_clock::now();
  if (!judge_) {
    if (Status status = make_judge(); !status.ok()) return status.with_operator(op_->name);
  }
  Judgement judgement = judge_(outputs);
  for (std::size_t i = 0; i < judgement.results.size(); ++i) {
    if (i >= outputs.size() || judgement.results[i] < 0 || judgement.results[i] > outputs[i].numel())
      return internal_error("the judge says of more results than there are elements")
          .with_operator(op_->name);
  }
  judging_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return judgement;
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

  const CasePlan& plan = host.plan();
  std::size_t next_input = 0;
  std::size_t next_output = 0;
  problem.tensors_.reserve(host.op().slots.size());
  for (const TensorSlot& slot : host.op().slots) {
    if (is_read(slot)) {
      const InputPlan& input = plan.inputs[next_input];
      const Extents& strides = input.strides.empty() ? contiguous_strides(input.shape) : input.strides;
      ROOFTILE_TRY(problem.add_tensor(slot, {input.dtype, input.shape}, strides, input.absent));
      problem.tensors_.back().input = next_input++;
      problem.tensors_.back().overwritten = slot.direction == SlotDirection::inout;
    } else {
      const TensorSpec& spec = host.outputs()[next_output];
      const bool given =
          next_output < plan.output_strides.size() && !plan.output_strides[next_output].empty();
      ROOFTILE_TRY(problem.add_tensor(
          slot, spec, given ? plan.output_strides[next_output] : contiguous_strides(spec.shape), false));
      ++next_output;
    }
  }
  std::vector<TensorView> views;
  bool in_place = false;
  for (const DeviceTensor& tensor : problem.tensors_) {
    in_place = in_place || tensor.memory_of;
    views.push_back(tensor.absent ? TensorView()
                                  : TensorView(tensor.data, tensor.spec.dtype, device, tensor.spec.shape,
                                               tensor.strides));
  }
  if (host.the_case().in_place && !in_place) {
    return invalid_argument("no output may alias an input: there is nothing to do in place")
        .with_operator(host.op().name);
  }
  Result<AnyArgs> args = host.op().make_args(views, host.the_case().params);
  if (!args.ok()) return args.status().with_operator(host.op().name);
  problem.args_ = std::move(*args);
  ROOFTILE_TRY(problem.fill_inputs(false));
  return problem;
}

Status DeviceProblem::add_tensor(const TensorSlot& slot, const TensorSpec& spec, const Extents& strides,
                                 bool absent) {
  DeviceTensor tensor{.slot = &slot, .spec = spec, .strides = strides, .absent = absent};
  if (absent) tensor.spec.shape = tensor.strides = Extents{0};
  if (strides.rank() != spec.shape.rank()) {
    return internal_error(fmt::format("the case gives {} the strides {} for the shape {}", slot.name,
                                      strides.to_string(), spec.shape.to_string()));
  }
  if (!is_read(slot) && host_->the_case().in_place && !slot.may_alias.empty())
    tensor.memory_of = slot_named(host_->op(), slot.alias_of_cases());
  if (tensor.memory_of && *tensor.memory_of < tensors_.size() && tensors_[*tensor.memory_of].absent)
    tensor.memory_of.reset();
  if (tensor.memory_of && *tensor.memory_of >= tensors_.size())
    return internal_error("a case in place wants the slots of inputs in front of those of outputs");
  const StridedSpan span = absent ? StridedSpan{} : strided_span(tensor.spec, tensor.strides);
  ROOFTILE_TRY_ASSIGN(
      tensor.buffer,
      GuardedBuffer::create(stream(), tensor.memory_of ? 0 : span.bytes,
                            static_cast<std::size_t>(host_->the_case().offset) * size_of(spec.dtype)));
  tensor.data = static_cast<std::byte*>(tensor.buffer.data()) + span.first_element;
  if (tensor.memory_of) {
    DeviceTensor& owner = tensors_[*tensor.memory_of];
    owner.overwritten = true;
    tensor.data = owner.data;
    tensor.strides = owner.strides;
  }
  tensors_.push_back(std::move(tensor));
  return {};
}

Result<HostTensor> DeviceProblem::draw_on_device(const DeviceTensor& tensor, Fill fill) const {
  ROOFTILE_TRY_ASSIGN(HostTensor values, HostTensor::create(tensor.spec.dtype, tensor.spec.shape));
  const std::uint64_t seed = host_->the_case().seed;
  ROOFTILE_TRY(cuda::lab_kernels::fill_elements(stream(), tensor.data, tensor.spec.dtype, values.numel(),
                                                fill, seed, *tensor.input));
  if (values.bytes() > 0)
    ROOFTILE_TRY(copy(stream(), values.data(), kCpu, tensor.data, stream().device, values.bytes()));
  ROOFTILE_TRY(synchronize(stream()));
  if (const std::int64_t wrong = first_wrong_draw(values, fill, seed, *tensor.input); wrong >= 0) {
    return internal_error(fmt::format("the GPU drew element {} of {} ({}) otherwise than the host does",
                                      wrong, tensor.slot->name, to_string(fill)));
  }
  return values;
}

Status DeviceProblem::upload(const DeviceTensor& tensor, const HostTensor& values) const {
  if (values.bytes() == 0) return {};
  if (tensor.dense())
    return copy(stream(), tensor.data, stream().device, values.data(), kCpu, values.bytes());
  const std::vector<std::byte> image = strided_image(values, tensor.strides, kInputGap);
  ROOFTILE_TRY(copy(stream(), tensor.buffer.data(), stream().device, image.data(), kCpu, image.size()));
  return synchronize(stream());
}

Status DeviceProblem::fill_inputs(bool overwritten_alone) {
  const bool on_gpu = stream().device.kind == DeviceKind::cuda;
  std::vector<HostTensor> drawn;
  for (const DeviceTensor& tensor : tensors_) {
    if (!tensor.input || (overwritten_alone && !tensor.overwritten)) continue;
    const std::optional<Fill> fill = host_->fill_of(*tensor.input);
    if (host_->has_inputs()) {
      ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* tensors, host_->inputs());
      const HostTensor& values = (*tensors)[*tensor.input];
      if (on_gpu && fill && tensor.dense()) {
        ROOFTILE_TRY(cuda::lab_kernels::fill_elements(stream(), tensor.data, tensor.spec.dtype,
                                                      values.numel(), *fill, host_->the_case().seed,
                                                      *tensor.input));
      } else {
        ROOFTILE_TRY(upload(tensor, values));
      }
      continue;
    }
    if (on_gpu && fill && tensor.dense()) {
      ROOFTILE_TRY_ASSIGN(HostTensor values, draw_on_device(tensor, *fill));
      drawn.push_back(std::move(values));
    } else {
      ROOFTILE_TRY_ASSIGN(HostTensor values, host_->draw(*tensor.input, drawn));
      ROOFTILE_TRY(upload(tensor, values));
      drawn.push_back(std::move(values));
    }
  }
  if (!host_->has_inputs()) host_->set_inputs(std::move(drawn));
  return synchronize(stream());
}

Status DeviceProblem::prepare(int value) {
  const bool renew =
      std::any_of(tensors_.begin(), tensors_.end(), [](const auto& t) { return t.overwritten; });
  if (renew) ROOFTILE_TRY(fill_inputs(true));
  for (const DeviceTensor& tensor : tensors_) {
    if (tensor.is_fresh()) ROOFTILE_TRY(tensor.buffer.poison(stream(), value));
  }
  return {};
}

Result<std::function<Status()>> DeviceProblem::make_renewal() {
  struct Saved {
    DeviceMemory copy;
    void* original = nullptr;
  };
  // What they hold now is what the last launch made of them.
  ROOFTILE_TRY(fill_inputs(true));
  auto saved = std::make_shared<std::vector<Saved>>();
  for (const DeviceTensor& tensor : tensors_) {
    if (!tensor.overwritten || tensor.buffer.bytes() == 0) continue;
    Saved one{.copy = {}, .original = tensor.buffer.data()};
    ROOFTILE_TRY_ASSIGN(one.copy, DeviceMemory::allocate(stream().device, tensor.buffer.bytes()));
    ROOFTILE_TRY(
        copy(stream(), one.copy.data(), stream().device, one.original, stream().device, one.copy.bytes()));
    saved->push_back(std::move(one));
  }
  ROOFTILE_TRY(synchronize(stream()));
  if (saved->empty()) return std::function<Status()>();
  return std::function<Status()>([saved, stream = stream()]() -> Status {
    for (const Saved& one : *saved)
      ROOFTILE_TRY(
          copy(stream, one.original, stream.device, one.copy.data(), stream.device, one.copy.bytes()));
    return {};
  });
}

Status DeviceProblem::restore() {
  for (const DeviceTensor& tensor : tensors_) ROOFTILE_TRY(tensor.buffer.set_guards(stream()));
  return fill_inputs(false);
}

Result<HostTensor> elements_after_call(const std::vector<std::byte>& image, const DeviceTensor& tensor,
                                       int gap, std::string& outside) {
  std::int64_t bad_gap = -1;
  const std::byte kept = tensor.is_fresh() ? static_cast<std::byte>(gap) : kInputGap;
  Result<HostTensor> values = elements_of_image(image, tensor.spec, tensor.strides, kept, bad_gap);
  if (bad_gap >= 0 && outside.empty())
    outside = fmt::format("wrote between the elements of {}: byte {}", tensor.slot->name, bad_gap);
  return values;
}

Result<std::vector<HostTensor>> DeviceProblem::download_written(int gap, std::string& outside) const {
  std::vector<HostTensor> written;
  for (const DeviceTensor& tensor : tensors_) {
    if (!is_written(*tensor.slot)) continue;
    if (tensor.dense() || tensor.absent) {
      ROOFTILE_TRY_ASSIGN(HostTensor values, HostTensor::create(tensor.spec.dtype, tensor.spec.shape));
      if (values.bytes() > 0) {
        ROOFTILE_TRY(copy(stream(), values.data(), kCpu, tensor.data, stream().device, values.bytes()));
        ROOFTILE_TRY(synchronize(stream()));
      }
      written.push_back(std::move(values));
      continue;
    }
    const DeviceTensor& owner = tensor.memory_of ? tensors_[*tensor.memory_of] : tensor;
    std::vector<std::byte> image(owner.buffer.bytes());
    ROOFTILE_TRY(copy(stream(), image.data(), kCpu, owner.buffer.data(), stream().device, image.size()));
    ROOFTILE_TRY(synchronize(stream()));
    ROOFTILE_TRY_ASSIGN(HostTensor values, elements_after_call(image, tensor, gap, outside));
    written.push_back(std::move(values));
  }
  return written;
}

Result<std::string> DeviceProblem::changed_input() const {
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* inputs, host_->inputs());
  for (const DeviceTensor& tensor : tensors_) {
    if (!tensor.input || tensor.overwritten || tensor.absent) continue;
    const HostTensor& input = (*inputs)[*tensor.input];
    std::size_t at = input.bytes();
    if (tensor.dense()) {
      ROOFTILE_TRY_ASSIGN(at, first_difference(stream(), tensor.data, input.data(), input.bytes()));
      if (at == input.bytes()) continue;
      return fmt::format("input {} was modified: element {}", tensor.slot->name, at / size_of(input.dtype()));
    }
    const std::vector<std::byte> image = strided_image(input, tensor.strides, kInputGap);
    ROOFTILE_TRY_ASSIGN(at, first_difference(stream(), tensor.buffer.data(), image.data(), image.size()));
    if (at != image.size())
      return fmt::format("input {} was modified: byte {} of its memory", tensor.slot->name, at);
  }
  return std::string();
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
