#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/slot_files.h"
#include "rooftile/core/context.h"
#include "rooftile/core/npy.h"
#include "rooftile/lab/base/format_bytes.h"

namespace rooftile::cli {
namespace {

struct RunCommand {
  std::string op;
  std::string rung;
  std::vector<std::string> args;
  std::vector<std::string> in;
  std::vector<std::string> out;
  std::string dtype;
  std::string device;
};

// A file's tensor under the dtype that it stands for: .npy has no bf16 and no 8-bit floats, so the caller may
// name them for arrays of u2 and u1.
struct Input {
  HostTensor tensor;
  DType dtype = DType::f32;
  bool is_named = false;  // that dtype is the caller's word
  bool absent = false;

  [[nodiscard]] TensorSpec spec() const { return absent ? absent_spec() : TensorSpec{dtype, tensor.shape()}; }
};

// What an .npy file holds as the bits of unsigned integers.
constexpr DType kBitsAlone[] = {DType::bf16, DType::f8e4m3, DType::f8e5m2};
bool stands_for(DType bits, DType dtype) {
  return (bits == DType::u8 || bits == DType::u16) && size_of(bits) == size_of(dtype) &&
         std::find(std::begin(kBitsAlone), std::end(kBitsAlone), dtype) != std::end(kBitsAlone);
}

Result<Input> read_input(const std::string& path, const TensorSlot& slot, const std::optional<DType>& named) {
  ROOFTILE_TRY_ASSIGN(HostTensor tensor, read_npy(path));
  Input input{.tensor = std::move(tensor)};
  input.dtype = input.tensor.dtype();
  const bool takes_bits = slot.dtypes.contains(input.dtype);
  if (!takes_bits && named && stands_for(input.dtype, *named)) {
    input.dtype = *named;
    input.is_named = true;
  }
  if (!slot.dtypes.contains(input.dtype)) {
    std::string mend = "convert the array with astype";
    for (const DType dtype : kBitsAlone) {
      if (!named && stands_for(input.dtype, dtype) && slot.dtypes.contains(dtype))
        mend = fmt::format("add --dtype {} if they are the bits of it", to_string(dtype));
    }
    return invalid_argument(fmt::format("'{}' holds {}, but {} takes {}: {}", path, to_string(input.dtype),
                                        slot.name, slot.dtypes.to_string(), mend));
  }
  const int rank = input.tensor.shape().rank();
  if (rank < slot.min_rank || rank > slot.max_rank) {
    return invalid_argument(fmt::format("'{}' has {} dimensions, but {} takes {} to {}", path, rank,
                                        slot.name, slot.min_rank, slot.max_rank));
  }
  return input;
}

// The device that was named; else the default one, or the
// simulated SM where a GPU rung was named without a GPU.
Result<Device> pick_device(const RunCommand& call, const RungRow* rung) {
  if (!call.device.empty()) return usable_device(call.device);
  if (rung == nullptr) return default_device();
  if (rung->kind == RungKind::cpu) return kCpu;
  return cuda_availability().ok() ? default_device() : kSim;
}

struct Work {
  const OperatorDescriptor* op = nullptr;
  const RungRow* rung = nullptr;  // null: the one that choose() takes
  Params params;
  SlotFiles files;
  std::vector<Input> inputs;      // by slot; absent where it is not read
  std::vector<TensorSpec> specs;  // by slot
  Device device;
};

// Null where none was named.
Result<const RungRow*> pick_rung(const OperatorDescriptor& op, const std::string& named) {
  if (named.empty()) return static_cast<const RungRow*>(nullptr);
  const std::vector<std::string> rungs = parse_rungs({named}, op.name);
  if (rungs.size() > 1) return invalid_argument(fmt::format("--rung {}: run takes one rung", named));
  const RungRow* rung = op.find_rung(rungs.front());
  if (rung != nullptr) return rung;
  const std::string near = nearest_name(rungs.front(), op.rung_ids());
  return invalid_argument(fmt::format("unknown rung '{}' of {}: {}", rungs.front(), op.name,
                                      near.empty()
                                          ? fmt::format("choose one of {}", fmt::join(op.rung_ids(), ", "))
                                          : fmt::format("did you mean '{}'?", near)));
}

Status check_kinds(const RungRow* rung, Device device) {
  if (rung == nullptr || (rung->kind == RungKind::cpu) == (device.kind == DeviceKind::cpu)) return {};
  return rung->kind == RungKind::cpu
             ? invalid_argument(fmt::format("{} is a CPU rung: name --device cpu, or none", rung->id))
             : invalid_argument(
                   fmt::format("{} is a GPU rung: name --device cuda:0 or sim, or none", rung->id));
}

// Bytes of the call's tensors on the host: once from or for their files, and once more where the device is the host.
Status check_memory(double bytes, Device device) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* host, device_properties(kCpu));
  const double needed = device.kind == DeviceKind::cuda ? bytes : 2 * bytes;
  constexpr double kUsable = 0.9;
  const auto there = static_cast<double>(host->memory_bytes);
  if (there == 0 || needed <= kUsable * there) return {};
  return Status::error(
      StatusCode::out_of_memory,
      fmt::format("the call needs {} on the host, which has {}: call it for a part of the data",
                  lab::format_bytes(needed), lab::format_bytes(there)));
}
double bytes_of_files(const std::vector<std::string>& paths) {
  double bytes = 0;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::uintmax_t size = path.empty() ? 0 : std::filesystem::file_size(path, error);
    if (!error) bytes += static_cast<double>(size);
  }
  return bytes;
}

// Whether the call gives this output. Operators say of one that it does not give that it is absent, or has no element where x has some.
bool gives(const Work& work, std::size_t slot) {
  const TensorSpec& spec = work.specs[slot];
  const bool has_elements = std::any_of(work.inputs.begin(), work.inputs.end(),
                                        [](const Input& in) { return !in.absent && in.tensor.numel() > 0; });
  const bool is_nothing = work.op->slots[slot].optional && has_elements && spec.shape == Extents{0};
  return !is_absent(spec) && !is_nothing;
}

// Whether there is something for every output's file, and a place of its own.
Status check_outputs(const Work& work) {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < work.specs.size(); ++i) {
    const std::string& path = work.files.out[i];
    if (path.empty()) continue;
    const std::string& name = work.op->slots[i].name;
    if (!gives(work, i)) {
      return invalid_argument(fmt::format(
          "this call gives no {}: leave --out {}={} out, or see `rooftile show {}` for what gives it", name,
          name, path, work.op->name));
    }
    if (const std::string why = why_not_writable(path); !why.empty()) return io_error(why);
    std::string place = place_of(path);
    if (std::find(places.begin(), places.end(), place) != places.end())
      return invalid_argument(
          fmt::format("'{}' is the file of two outputs: give {} one of its own", path, name));
    places.push_back(std::move(place));
  }
  return {};
}

bool is_of_cases(const OperatorDescriptor& op, std::string_view name) {
  return std::any_of(op.params.begin(), op.params.end(),
                     [&](const ParamSpec& param) { return param.name == name && param.of_cases; });
}

Result<Work> prepare(const Session& session, const RunCommand& call) {
  Work work;
  ROOFTILE_TRY_ASSIGN(work.op, session.registry.get(call.op));
  const OperatorDescriptor& op = *work.op;
  ROOFTILE_TRY_ASSIGN(work.rung, pick_rung(op, call.rung));
  work.params = Params(op.params);
  ROOFTILE_TRY_ASSIGN(const NameValues args,
                      parse_assignments(call.args, false, "--arg", "name=value, as in op=max"));
  for (const auto& [name, value] : args) {
    if (is_of_cases(op, name)) {
      return invalid_argument(
                 fmt::format(
                     "'{}' shapes the cases that the lab generates, and a call has no such parameter: "
                     "leave it out, tensors come by --in",
                     name))
          .with_operator(op.name);
    }
    if (Status status = work.params.set(op.params, name, value); !status.ok())
      return status.with_operator(op.name);
  }
  std::optional<DType> named;
  if (!call.dtype.empty()) {
    ROOFTILE_TRY_ASSIGN(named, parse_dtype(call.dtype));
  }
  ROOFTILE_TRY_ASSIGN(work.files, files_of(op, call.in, call.out));
  ROOFTILE_TRY_ASSIGN(work.device, pick_device(call, work.rung));
  ROOFTILE_TRY(check_kinds(work.rung, work.device));
  ROOFTILE_TRY(check_memory(bytes_of_files(work.files.in), work.device));
  std::vector<TensorSpec> read;
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    Input input;
    input.absent = true;
    if (const std::string& path = work.files.in[i]; !path.empty()) {
      ROOFTILE_TRY_ASSIGN(input, read_input(path, op.slots[i], named));
    }
    if (is_read(op.slots[i])) read.push_back(input.spec());
    work.inputs.push_back(std::move(input));
  }
  if (named &&
      std::none_of(work.inputs.begin(), work.inputs.end(), [](const Input& in) { return in.is_named; })) {
    return invalid_argument(fmt::format(
        "--dtype {} is for files of u2 or u1 that hold its bits: no input is one; leave it out", call.dtype));
  }
  Result<std::vector<TensorSpec>> outputs = op.infer_outputs(read, work.params);
  if (!outputs.ok()) return outputs.status().with_operator(op.name);
  work.specs = specs_by_slot(op, read, *outputs);
  ROOFTILE_TRY(check_outputs(work));
  double bytes = 0;
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    TensorSpec& spec = work.specs[i];
    if (op.slots[i].direction == SlotDirection::out && work.files.out[i].empty()) spec = absent_spec();
    if (is_absent(spec)) continue;
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(spec.shape, size_of(spec.dtype)));
    bytes += static_cast<double>(numel) * static_cast<double>(size_of(spec.dtype));
  }
  ROOFTILE_TRY(check_memory(bytes, work.device));
  return work;
}

struct Done {
  std::vector<HostTensor> outputs;  // by slot; of those that have a file
  std::string rung;
};

Result<Done> execute(const Work& work) {
  const OperatorDescriptor& op = *work.op;
  ROOFTILE_TRY_ASSIGN(Context context, Context::create(work.device));
  const StreamRef stream = context.stream();
  std::vector<DeviceMemory> memory;
  std::vector<TensorView> views(op.slots.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const TensorSpec& spec = work.specs[i];
    if (is_absent(spec)) continue;
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(spec.shape, size_of(spec.dtype)));
    const std::size_t bytes = static_cast<std::size_t>(numel) * size_of(spec.dtype);
    ROOFTILE_TRY_ASSIGN(DeviceMemory buffer, DeviceMemory::allocate(work.device, bytes));
    if (is_read(op.slots[i]) && bytes > 0)
      ROOFTILE_TRY(copy(stream, buffer.data(), work.device, work.inputs[i].tensor.data(), kCpu, bytes));
    views[i] = contiguous_view<void>(buffer.data(), spec.dtype, work.device, spec.shape);
    memory.push_back(std::move(buffer));
  }
  Result<AnyArgs> args = op.make_args(views, work.params);
  if (!args.ok()) return args.status().with_operator(op.name);

  Done done;
  done.rung = work.rung != nullptr ? work.rung->id : std::string(op.choose(*args, context.properties()));
  if (work.rung != nullptr) {
    if (const std::string why = unavailable_reason(*work.rung, context.properties()); !why.empty()) {
      return unavailable(fmt::format("{} cannot run on {}: {}", work.rung->id, to_string(work.device), why))
          .with_operator(op.name);
    }
    ROOFTILE_TRY(run_rung(op, *work.rung, context, *args));
  } else {
    ROOFTILE_TRY(rooftile::run(op, context, *args));
  }
  ROOFTILE_TRY(context.check());
  done.outputs.resize(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (work.files.out[i].empty()) continue;
    const TensorView& view = views[i];
    ROOFTILE_TRY_ASSIGN(HostTensor tensor, HostTensor::create(view.dtype, view.shape));
    if (tensor.bytes() > 0)
      ROOFTILE_TRY(copy(stream, tensor.data(), kCpu, view.data, work.device, tensor.bytes()));
    done.outputs[i] = std::move(tensor);
  }
  ROOFTILE_TRY(context.synchronize());
  return done;
}

int run(const Session& session, const RunCommand& call) {
  const Result<Work> work = prepare(session, call);
  if (!work.ok()) return report(work.status());
  const Result<Done> done = execute(*work);
  if (!done.ok()) return report(done.status());
  std::vector<TensorFile> files;
  for (std::size_t i = 0; i < done->outputs.size(); ++i) {
    if (!work->files.out[i].empty()) files.push_back({work->files.out[i], &done->outputs[i]});
  }
  if (const Status status = write_tensors(files); !status.ok()) return report(status);
  for (const auto& [path, of_file] : files) {
    const HostTensor& tensor = *of_file;
    fmt::print("{}: {}{}{} by {}/{} on {}\n", path, to_string(tensor.dtype()), tensor.shape().to_string(),
               tensor.numel() == 1 ? fmt::format(" = {:.9g}", tensor.at(0)) : "", work->op->name, done->rung,
               to_string(work->device));
  }
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("run", "one operator on your own data (NumPy .npy files)");
  auto call = std::make_shared<RunCommand>();
  command->add_option("OP", call->op, "an operator of `rooftile list`")->required();
  command
      ->add_option("--in", call->in,
                   "input files, in the operator's order or as weight=W.npy; the option may be repeated")
      ->required()
      ->type_name("[NAME=]X.npy");
  command
      ->add_option("--out", call->out,
                   "output files, in the operator's order or by name; the option may be repeated")
      ->required()
      ->type_name("[NAME=]Y.npy");
  command->add_option("--rung", call->rung, "default: the one that the library chooses")->type_name("RUNG");
  command->add_option("--arg", call->args, "a parameter of the operator; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command->add_option("--dtype", call->dtype, "bf16, f8e4m3 or f8e5m2: what u2 or u1 arrays stand for")
      ->type_name("DTYPE");
  command->add_option("--device", call->device, "cuda:N, cpu or sim")->type_name("DEVICE");
  command->footer(
      "Examples:\n"
      "  rooftile run reduce --in x.npy --out sum.npy\n"
      "  rooftile run gemm --in a.npy b.npy --out c.npy\n"
      "  rooftile run layer_norm --in x.npy weight=w.npy residual=r.npy --out y.npy residual=sum.npy\n"
      "  rooftile run reduce --arg op=max --rung single_pass --device sim --in x.npy --out max.npy");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
