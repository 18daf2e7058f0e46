#include "rooftile/lab/ladder/json_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/base/machine.h"
#include "rooftile/lab/base/record_layout.h"
#include "rooftile/lab/ladder/row_sources.h"
#include "rooftile/lab/time/timing_version.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr int kLadderSchema = 2;
constexpr std::size_t kMostSamples = 50;

// NaN and infinities have no JSON: null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Four significant digits: more would be noise, and records are kept.
Json rounded(double value) {
  return std::isfinite(value) ? Json(std::stod(fmt::format("{:.4g}", value))) : Json(nullptr);
}

// Messages may quote what a user typed: bytes that are not UTF-8 are replaced, never fatal.
std::string dump(const Json& json) {
  return record_layout(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json param_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, plain_value(value));
}

Json machine_json(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cpu_threads", machine.cpu_threads},
          {"memory", machine.memory},
          {"os", machine.os},
          {"gpu", machine.gpu},
          {"gpu_reason", machine.gpu_reason},
          {"driver", machine.driver},
          {"cuda_runtime", machine.cuda_runtime},
          {"multiprocessors", machine.multiprocessors},
          {"last_level_cache", machine.last_level_cache},
          {"compiler", machine.compiler},
          {"flags", machine.flags},
          {"cuda_compiler", machine.cuda_compiler}};
}

Json plain_case_json(const Case& c) {
  Json shape = Json::object();
  for (const auto& [key, extent] : c.shape) shape[key] = extent;
  Json params = Json::object();
  for (const auto& [name, value] : c.params.values()) params[name] = param_json(value);
  return {{"shape", shape},     {"dtype", to_string(c.dtype)},
          {"params", params},   {"fill", to_string(c.fill)},
          {"offset", c.offset}, {"seed", c.seed}};
}

Json case_json(const LadderResult& result) {
  Json json = plain_case_json(result.the_case);
  json["bytes"] = number(result.read_bytes + result.write_bytes);
  json["read_bytes"] = number(result.read_bytes);
  json["write_bytes"] = number(result.write_bytes);
  json["flops"] = number(result.flops);
  json["flops_on"] = to_string(result.flops_on);
  return json;
}

Json time_json(const std::optional<RowTime>& time) {
  if (!time) return nullptr;
  Json samples = Json::array();
  for (std::size_t i = 0; i < std::min(time->samples_us.size(), kMostSamples); ++i) {
    samples.push_back(rounded(time->samples_us[i]));
  }
  const auto [least, most] = std::minmax_element(time->samples_us.begin(), time->samples_us.end());
  const Interval interval = bootstrap_median(time->samples_us, kBootstrapSeed);
  return {{"median", rounded(time->summary.median)},
          {"low", rounded(interval.low)},
          {"high", rounded(interval.high)},
          {"least", rounded(*least)},
          {"most", rounded(*most)},
          {"iqr", rounded(time->summary.iqr)},
          {"n", time->summary.n},
          {"mode", to_string(time->mode)},
          {"verdict", time->steady ? "ok" : "insufficient"},
          {"samples", samples}};
}

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"median", rounded(interval->median)},
          {"low", rounded(interval->low)},
          {"high", rounded(interval->high)}};
}

Json ratio_json(const LadderRow& row) {
  Json json = interval_json(row.ratio_to_peer);
  if (row.ratio_to_peer) json["rounds"] = row.rounds;
  return json;
}

Json sm_clock_json(const std::optional<SmClock>& clock) {
  if (!clock) return nullptr;
  return {{"before", rounded(clock->before_mhz)},
          {"after", rounded(clock->after_mhz)},
          {"rated", clock->rated_mhz > 0 ? rounded(clock->rated_mhz) : Json(nullptr)},
          {"throttled", clock->throttled()}};
}

Json conditions_json(const std::optional<GpuConditions>& seen) {
  if (!seen) return nullptr;
  if (!seen->unknown.empty()) return {{"unknown", seen->unknown}};
  return {{"uuid", seen->uuid},
          {"samples", seen->samples},
          {"sm_mhz", {seen->lowest_sm_mhz, seen->highest_sm_mhz}},
          {"memory_mhz", seen->memory_mhz},
          {"power_limit_w", rounded(seen->power_limit_w)},
          {"power_w", {rounded(seen->mean_power_w), rounded(seen->highest_power_w)}},
          {"celsius", seen->highest_celsius},
          {"slowed_by", seen->slowed_by}};
}

Json accesses_json(const AccessSummary& accesses) {
  const auto known = [](double value) { return value > 0.0 ? rounded(value) : Json(nullptr); };
  return {{"global_load_sectors_per_request", known(accesses.load_sectors)},
          {"global_store_sectors_per_request", known(accesses.store_sectors)},
          {"shared_conflict_degree", known(accesses.conflict_degree)},
          {"worst_shared_conflict_degree", accesses.worst_conflict},
          {"constant_words_per_request", known(accesses.constant_words)},
          {"active_lanes_per_request", known(accesses.lanes)},
          {"active_lanes_per_basic_block", known(accesses.block_lanes)},
          {"bytes_moved", accesses.bytes_moved},
          {"barriers", accesses.barriers},
          {"shuffles", accesses.shuffles}};
}

Json sources_json(const SourceParts& sources) {
  Json json = Json::object();
  for (const SourcePart& source : sources) json[source.part] = source.digest;
  return json;
}

// Of each kernel the grid, the block and the bytes of shared memory that the launch asks for, as seven numbers.
Json launches_json(const std::optional<GpuLaunches>& launches) {
  if (!launches) return nullptr;
  Json kernels = Json::array();
  for (const GpuKernel& kernel : launches->kernels) {
    kernels.push_back({kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                       kernel.block[2], kernel.shared_bytes});
  }
  return {{"kernels", kernels}, {"others", launches->others}};
}

Json row_json(std::string_view operator_name, const LadderRow& row, const LadderResult& result) {
  Json json = {{"rung", row.rung},
               {"kind", row.kind},
               {"idea", row.idea},
               {"device", to_string(result.device)},
               {"chosen", row.chosen},
               {"status", to_string(row.status)},
               {"reason", row.reason},
               {"verified", row.verified},
               {"error", row.verified && row.kind != "bound" ? number(row.error) : Json(nullptr)},
               {"time_us", time_json(row.time)},
               {"workspace_bytes", row.workspace_bytes ? Json(*row.workspace_bytes) : Json(nullptr)},
               {"launches", launches_json(row.launches)},
               {"gbps", row.gbps > 0 ? rounded(row.gbps) : Json(nullptr)},
               {"tflops", row.tflops > 0 ? rounded(row.tflops) : Json(nullptr)},
               {"bound_fraction", row.bound_fraction ? rounded(*row.bound_fraction) : Json(nullptr)},
               {"peer", row.peer.empty() ? Json(nullptr) : Json(row.peer)},
               {"ratio_to_peer", ratio_json(row)},
               {"verdict", row.verdict ? Json(to_string(*row.verdict)) : Json(nullptr)},
               {"sources", sources_json(row_sources(operator_name, row, result.takes_turns))}};
  if (!row.variant.empty()) json["variant"] = row.variant;
  if (row.kind == "peer") json["version"] = row.idea;
  if (row.accesses) json["accesses"] = accesses_json(*row.accesses);
  return json;
}

// In UTC.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string commit_text() {
  return fmt::format("{}{}", build_info().commit, build_info().dirty ? "-dirty" : "");
}

Json properties_json(const DeviceProperties& p) {
  return {{"device", to_string(p.device)},
          {"name", p.name},
          {"compute_capability", p.compute_capability},
          {"multiprocessors", p.multiprocessors},
          {"max_threads_per_block", p.max_threads_per_block},
          {"max_threads_per_multiprocessor", p.max_threads_per_multiprocessor},
          {"shared_memory_per_block", p.shared_memory_per_block},
          {"last_level_cache", p.last_level_cache},
          {"memory_bytes", p.memory_bytes},
          {"peak_bandwidth_gbps", rounded(p.peak_bandwidth_gbps)}};
}

Json ceiling_json(const Ceiling& ceiling) {
  const auto known = [](double value) { return value > 0.0 ? rounded(value) : Json(nullptr); };
  const bool is_rate = ceiling.unit == "GB/s";
  return {{"name", ceiling.name},
          {"unit", ceiling.unit},
          {"value", known(ceiling.value)},
          {"gbps", is_rate ? known(ceiling.value) : Json(nullptr)},
          {"bytes", is_rate ? known(ceiling.work) : Json(nullptr)},
          {"datasheet", known(ceiling.datasheet)},
          {"reason", ceiling.reason}};
}

// One entry per rung, device and reason: a ladder skips thousands of checks for a handful of reasons. The id
// of several is "operator/rung[*]".
Json skipped_json(const std::vector<CheckResult>& skips) {
  struct Group {
    const CheckResult* first = nullptr;
    int count = 0;
  };
  using Key = std::tuple<std::string, std::string, std::string>;
  std::vector<Group> groups;
  std::map<Key, std::size_t> places;
  for (const CheckResult& skip : skips) {
    const auto [at, is_new] = places.try_emplace(
        Key{skip.id.substr(0, skip.id.find('[')), skip.device, skip.reason}, groups.size());
    if (is_new) groups.push_back({&skip});
    ++groups[at->second].count;
  }
  Json skipped = Json::array();
  for (const Group& group : groups) {
    const std::string& id = group.first->id;
    skipped.push_back({{"id", group.count == 1 ? id : id.substr(0, id.find('[')) + "[*]"},
                       {"device", group.first->device},
                       {"reason", group.first->reason},
                       {"count", group.count}});
  }
  return skipped;
}

std::string why_not(const RungRow& rung, Device device) {
  const Result<const DeviceProperties*> properties = device_properties(device);
  return properties.ok() ? unavailable_reason(rung, **properties) : properties.status().sentence();
}

}  // namespace

Availability availability(const RungRow& rung) {
  Availability result;
  if (rung.kind == RungKind::cpu) {
    result.reason = why_not(rung, kCpu);
    result.cpu = result.reason.empty();
    return result;
  }
  const Status gpu = cuda_availability();
  const std::string cuda = gpu.ok() ? why_not(rung, cuda_device(0)) : gpu.sentence();
  const std::string sim = why_not(rung, kSim);
  result.cuda = cuda.empty();
  result.sim = sim.empty();
  if (!cuda.empty()) result.reason = "cuda: " + cuda;
  if (!sim.empty()) result.reason += (result.reason.empty() ? "sim: " : "; sim: ") + sim;
  return result;
}

// Which bound the shares are shares of.
Json bound_name(const LadderResult& result) {
  for (const LadderRow& row : result.rows) {
    if (row.kind == "bound") return row.rung;
  }
  return nullptr;
}

std::string ladder_json(const LadderReport& report, const std::string& command) {
  Json results = Json::array();
  for (const LadderResult& result : report.results) {
    Json rows = Json::array();
    for (const LadderRow& row : result.rows) {
      rows.push_back(row_json(report.operator_name, row, result));
    }
    // The origin stands with each case, because a record may hold the cases of several runs (ladder_merge.h).
    results.push_back({{"case", case_json(result)},
                       {"device", to_string(result.device)},
                       {"mode", to_string(result.mode)},
                       {"command", command},
                       {"commit", commit_text()},
                       {"date", today()},
                       {"lab", {{"version", kTimingVersion}, {"sources", kTimingSources}}},
                       {"budget_s", result.budget_s},
                       {"flush_bytes", number(result.flush_bytes)},
                       {"bound", bound_name(result)},
                       {"process_copy", interval_json(result.process_copy)},
                       {"inputs", result.inputs},
                       {"rows", rows},
                       {"sm_clock_mhz", sm_clock_json(result.sm_clock)},
                       {"conditions", conditions_json(result.conditions)},
                       {"judging_s", rounded(result.judging_s)},
                       {"notes", result.notes}});
  }
  const Device device = report.results.empty() ? kCpu : report.results.front().device;
  return dump({{"schema", kLadderSchema},
               {"operator", report.operator_name},
               {"summary", report.summary},
               {"machine", machine_json(describe_machine(device))},
               {"command", command},
               {"commit", commit_text()},
               {"source_digest", source_digest(report.operator_name)},
               {"results", results}});
}

std::string verify_json(const VerifyReport& report, const std::string& command) {
  Json failures = Json::array();
  for (const CheckResult& check : report.failures) {
    failures.push_back(
        {{"id", check.id}, {"device", check.device}, {"reason", check.reason}, {"repro", check.repro}});
  }
  Json sources = Json::array();
  for (const auto& [op, name] : report.candidates) {
    Json json = {{"id", op + "/" + name}};
    json.update(sources_json(verified_sources(op, name)));
    sources.push_back(json);
  }
  std::string devices;
  for (const Device device : report.devices) devices += (devices.empty() ? "" : ",") + to_string(device);
  return dump({{"schema", kSchema},
               {"device", devices},
               {"command", command},
               {"commit", commit_text()},
               {"sources", sources},
               {"cases", report.cases},
               {"passed", report.passed},
               {"sampled", report.sampled},
               {"failed", report.failed},
               {"skipped", skipped_json(report.skipped)},
               {"failures", failures}});
}

std::string verdict_trial_json(const VerdictTrial& trial, const std::string& command) {
  const auto counts = [](const VerdictCounts& of) {
    Json json = {{"runs", of.runs}};
    for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::insufficient}) {
      json[std::string(to_string(verdict))] = of.count(verdict);
    }
    json["lowest_ratio"] = rounded(of.low);
    json["highest_ratio"] = rounded(of.high);
    return json;
  };
  return dump({{"schema", kSchema},
               {"verdicts", trial.operator_name},
               {"rung", trial.rung},
               {"device", to_string(trial.device)},
               {"machine", machine_json(describe_machine(trial.device))},
               {"command", command},
               {"commit", commit_text()},
               {"sources", sources_json(rung_sources(trial.operator_name, trial.rung))},
               {"mode", to_string(trial.mode)},
               {"a", plain_case_json(trial.a)},
               {"b", plain_case_json(trial.b)},
               {"difference", rounded(trial.difference)},
               {"median_us", rounded(trial.median_us)},
               {"a_a", counts(trial.same)},
               {"a_b", counts(trial.differs)},
               {"seconds", rounded(trial.seconds)},
               {"neighbours", trial.neighbours},
               {"notes", trial.caveat.empty() ? Json::array() : Json::array({trial.caveat})},
               {"finding", trial.finding()}});
}

std::string list_json(const Registry& registry) {
  Json operators = Json::array();
  for (const OperatorDescriptor* op : registry.operators()) {
    Json rungs = Json::array();
    for (const RungRow& rung : op->rungs) {
      const Availability here = availability(rung);
      rungs.push_back({{"id", rung.id},
                       {"kind", rung.kind == RungKind::cpu ? "cpu" : "rung"},
                       {"idea", rung.idea},
                       {"available", {{"cuda", here.cuda}, {"cpu", here.cpu}, {"sim", here.sim}}},
                       {"reason", here.reason}});
    }
    Json peers = Json::array();
    for (const PeerRow* peer : registry.peers(op->name)) {
      peers.push_back({{"id", peer->id}, {"version", peer->version}});
    }
    operators.push_back({{"name", op->name}, {"summary", op->summary}, {"rungs", rungs}, {"peers", peers}});
  }
  return dump({{"schema", kSchema}, {"operators", operators}});
}

std::string device_json(const DeviceReport& report) {
  Json devices = Json::array();
  for (const DeviceEntry& entry : report.devices) {
    Json device = properties_json(entry.properties);
    Json measured = Json::array();
    for (const Ceiling& ceiling : entry.measured.ceilings) measured.push_back(ceiling_json(ceiling));
    device["measured"] = measured;
    device["measured_now"] = entry.measured.measured;
    device["measured_file"] = std::filesystem::path(entry.measured.path).filename().string();
    device["measured_problem"] = entry.measured.problem;
    devices.push_back(device);
  }
  Json peers = Json::array();
  for (const PeerLibrary& peer : report.peers) {
    peers.push_back({{"file", peer.file}, {"loaded", peer.reason.empty()}, {"reason", peer.reason}});
  }
  return dump({{"schema", kSchema},
               {"machine", machine_json(describe_machine(cuda_device(0)))},
               {"cuda", {{"available", report.cuda_reason.empty()}, {"reason", report.cuda_reason}}},
               {"devices", devices},
               {"peers", peers}});
}

}  // namespace rooftile::lab
