#include "rooftile/lab/peer_process/peer_process.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <variant>

#include "rooftile/core/params.h"
#include "rooftile/lab/base/subprocess.h"
#include "rooftile/lab/case/strided.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kUsualLimitS = 120.0;  // importing torch from a cold disk takes a minute
constexpr const char* kScript = "torch_child.py";

std::string from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

Result<double> limit_of(const PeerProgram& program) {
  if (program.limit_s > 0) return program.limit_s;
  const std::string text = from_environment("ROOFTILE_PEER_SECONDS");
  if (text.empty()) return kUsualLimitS;
  char* end = nullptr;
  const double limit = std::strtod(text.c_str(), &end);
  constexpr double kLongestLimitS = 86400;
  if (*end != '\0' || !(limit > 0 && limit <= kLongestLimitS))
    return invalid_argument(fmt::format(
        "ROOFTILE_PEER_SECONDS is '{}': write a number of seconds above 0, of a day at most", text));
  return limit;
}

Result<std::string> python_of(const PeerProgram& program) {
  const std::string named = program.python.empty() ? from_environment("ROOFTILE_PYTHON") : program.python;
  const std::string found =
      named.find('/') != std::string::npos ? named : find_program(named.empty() ? "python3" : named, {});
  std::error_code error;
  if (!found.empty() && fs::exists(found, error)) return found;
  return unavailable(named.empty() ? "no python3 in PATH: ROOFTILE_PYTHON names another"
                                   : fmt::format("there is no '{}', which ROOFTILE_PYTHON names",
                                                 fs::path(named).filename().string()));
}

Result<std::string> script_of(const PeerProgram& program) {
  fs::path folder = program.folder;
  if (folder.empty()) {
    ROOFTILE_TRY_ASSIGN(const std::string own, own_path());
    folder = fs::path(own).parent_path() / "peers";
  }
  const fs::path script = folder / kScript;
  std::error_code error;
  if (fs::exists(script, error)) return script.string();
  return unavailable(fmt::format("there is no peers/{} beside this program: build rooftile_cli", kScript));
}

Json param_json(const ParamValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, NoValue>)
          return nullptr;
        else if constexpr (std::is_same_v<T, DType>)
          return to_string(v);
        else
          return v;
      },
      value);
}

Json extents_json(const Extents& extents) {
  Json json = Json::array();
  for (const std::int64_t extent : extents) json.push_back(extent);
  return json;
}

// What the child must know of a slot's tensor; `file`: where its bytes are, of an input.
Json tensor_json(const DeviceProblem& problem, const DeviceTensor& tensor, const std::string& file) {
  const StridedSpan span = tensor.absent ? StridedSpan{} : strided_span(tensor.spec, tensor.strides);
  const std::size_t size = size_of(tensor.spec.dtype);
  return {{"slot", tensor.slot->name},
          {"dtype", to_string(tensor.spec.dtype)},
          {"size", size},
          {"shape", extents_json(tensor.spec.shape)},
          {"strides", extents_json(tensor.strides)},
          {"bytes", span.bytes},
          {"first", span.first_element},
          {"offset", static_cast<std::size_t>(problem.host().the_case().offset) * size},
          {"file", file},
          {"absent", tensor.absent},
          {"memory_of", tensor.memory_of ? problem.tensors()[*tensor.memory_of].slot->name : ""},
          {"fresh", tensor.is_fresh()},
          {"overwritten", tensor.overwritten},
          {"written", tensor.overwritten || is_written(*tensor.slot)}};
}

Status write_input(const PeerFiles& files, const DeviceTensor& tensor, const HostTensor& values,
                   const std::string& name) {
  if (tensor.dense()) return files.write(name, values.data(), values.bytes());
  const std::vector<std::byte> image = strided_image(values, tensor.strides, kInputGap);
  return files.write(name, image.data(), image.size());
}

}  // namespace

struct PeerProcess::Talk {
  // What the child's answer holds; the child is ended where that makes no sense.
  static Result<Json> ask(PeerProcess& peer, std::string_view what, Json request = Json::object()) {
    request["request"] = what;
    request["id"] = ++peer.asked_;
    ROOFTILE_TRY_ASSIGN(const std::string line, peer.child_.ask(request.dump(), peer.limit_s_));
    const Json answer = Json::parse(line, nullptr, false);
    const auto text = [&answer](const char* key) {
      return answer.contains(key) && answer[key].is_string() ? answer[key].get<std::string>() : "";
    };
    if (answer.is_object() && answer.value("id", Json()) == peer.asked_) {
      if (answer.contains("ok") && answer["ok"].is_object()) return answer["ok"];
      if (const std::string reason = text("unsupported"); !reason.empty()) return unsupported(reason);
      if (const std::string reason = text("memory"); !reason.empty())
        return Status::error(StatusCode::out_of_memory, reason);
      if (const std::string reason = text("error"); !reason.empty())
        return Status::error(StatusCode::device_error, reason);
    }
    return nonsense(peer, what, line);
  }

  static Status nonsense(PeerProcess& peer, std::string_view what, std::string_view line) {
    constexpr std::size_t kShown = 60;
    return peer.child_.give_up(
        fmt::format("the process answered nonsense to '{}': {}", what,
                    Json(line.substr(0, kShown)).dump(-1, ' ', true, Json::error_handler_t::replace)));
  }
};

Result<PeerProcess> PeerProcess::start(const PeerProgram& program, const DeviceProperties& device,
                                       double bytes) {
  ROOFTILE_TRY_ASSIGN(const double limit_s, limit_of(program));
  ROOFTILE_TRY_ASSIGN(const std::string python, python_of(program));
  ROOFTILE_TRY_ASSIGN(const std::string script, script_of(program));
  ROOFTILE_TRY_ASSIGN(PeerFiles files, PeerFiles::create(bytes));
  ROOFTILE_TRY_ASSIGN(ChildProcess child, ChildProcess::start({python, script, files.folder()}));
  PeerProcess peer(std::move(files), std::move(child), limit_s);
  peer.compile_ = program.compile;
  ROOFTILE_TRY_ASSIGN(const Json hello, Talk::ask(peer, "hello",
                                                  {{"device", to_string(device.device)},
                                                   {"last_level_cache", device.last_level_cache}}));
  if (!hello.contains("version") || !hello["version"].is_string())
    return Talk::nonsense(peer, "hello", hello.dump());
  peer.version_ = hello["version"].get<std::string>();
  return peer;
}

Result<std::vector<ProcessPeer>> PeerProcess::prepare(DeviceProblem& problem) {
  problem_ = &problem;
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor>* inputs, problem.host().inputs());
  Json tensors = Json::array();
  std::vector<std::string> names;
  for (const DeviceTensor& tensor : problem.tensors()) {
    const std::string name = tensor.input && !tensor.absent ? tensor.slot->name + ".in" : "";
    if (!name.empty()) {
      ROOFTILE_TRY(write_input(files_, tensor, (*inputs)[*tensor.input], name));
      names.push_back(name);
    }
    tensors.push_back(tensor_json(problem, tensor, name));
  }
  Json params = Json::object();
  for (const auto& [name, value] : problem.host().the_case().params.values()) {
    const double* const number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number))
      return unsupported(fmt::format("torch is not asked with {} = {}", name, rooftile::to_string(value)));
    params[name] = param_json(value);
  }
  Result<Json> answer = Talk::ask(*this, "prepare",
                                  {{"operator", problem.host().op().name},
                                   {"params", params},
                                   {"tensors", tensors},
                                   {"compile", compile_}});
  for (const std::string& name : names) files_.remove(name);
  if (!answer.ok()) return answer.status();
  const Json reasons = answer->value("peers", Json::object());
  std::vector<ProcessPeer> peers;
  for (const auto& [id, reason] : reasons.items()) {
    if (reason.is_string()) peers.push_back({id, reason.get<std::string>()});
  }
  if (peers.empty()) return Talk::nonsense(*this, "prepare", answer->dump());
  return peers;
}

Result<std::vector<HostTensor>> PeerProcess::run(std::string_view peer, int poison, std::string& outside) {
  ROOFTILE_TRY(Talk::ask(*this, "run", {{"peer", peer}, {"poison", poison}}).status());
  std::vector<HostTensor> written;
  for (const DeviceTensor& tensor : problem_->tensors()) {
    if (!is_written(*tensor.slot)) continue;
    const DeviceTensor& owner = tensor.memory_of ? problem_->tensors()[*tensor.memory_of] : tensor;
    const std::string name = owner.slot->name + ".out";
    if (tensor.dense() || tensor.absent) {
      ROOFTILE_TRY_ASSIGN(HostTensor values, HostTensor::create(tensor.spec.dtype, tensor.spec.shape));
      if (!tensor.absent) ROOFTILE_TRY(files_.take(name, values.data(), values.bytes()));
      written.push_back(std::move(values));
      continue;
    }
    std::vector<std::byte> image(strided_span(owner.spec, owner.strides).bytes);
    ROOFTILE_TRY(files_.take(name, image.data(), image.size()));
    ROOFTILE_TRY_ASSIGN(HostTensor values, elements_after_call(image, tensor, poison, outside));
    written.push_back(std::move(values));
  }
  return written;
}

Status PeerProcess::prepare_copy(std::size_t bytes) {
  return Talk::ask(*this, "copy", {{"bytes", bytes}}).status();
}

Status PeerProcess::set_mode(std::string_view peer, TimeMode mode) {
  return Talk::ask(*this, "mode", {{"peer", peer}, {"mode", to_string(mode)}}).status();
}

Result<double> PeerProcess::time(std::string_view peer) {
  ROOFTILE_TRY_ASSIGN(const Json answer, Talk::ask(*this, "time", {{"peer", peer}}));
  const Json us = answer.value("us", Json());
  if (!us.is_number() || !(us.get<double>() > 0)) return Talk::nonsense(*this, "time", answer.dump());
  return us.get<double>();
}

}  // namespace rooftile::lab
