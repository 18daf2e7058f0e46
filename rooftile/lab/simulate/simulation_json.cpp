// The simulated SM's report as JSON, schema 1.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/simulate/simulation.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;
using simt::checked::AccessCounts;
using simt::checked::AccessKind;
using simt::checked::Finding;
using simt::checked::LineAccesses;
using simt::checked::LineSyncs;
using simt::checked::MemorySpace;
using simt::checked::Report;

constexpr int kSchema = 1;

// What nothing was counted for has no ratio: null.
Json ratio(const AccessCounts& counts, double value) {
  return counts.requests == 0 ? Json(nullptr) : Json(value);
}

Json totals_json(const Simulation& simulation) {
  const Report& report = simulation.run.report;
  const AccessCounts loads = report.total(MemorySpace::global, AccessKind::load);
  const AccessCounts stores = report.total(MemorySpace::global, AccessKind::store);
  const AccessCounts shared_loads = report.total(MemorySpace::shared, AccessKind::load);
  const AccessCounts shared_stores = report.total(MemorySpace::shared, AccessKind::store);
  const AccessCounts all = report.total();
  return {{"global_load_sectors_per_request", ratio(loads, loads.sectors_per_request())},
          {"global_store_sectors_per_request", ratio(stores, stores.sectors_per_request())},
          {"shared_load_conflict_degree", ratio(shared_loads, shared_loads.conflict_degree())},
          {"shared_store_conflict_degree", ratio(shared_stores, shared_stores.conflict_degree())},
          {"active_lanes_per_request", ratio(all, all.lanes_per_request())},
          {"bytes_moved", report.bytes_moved()},
          {"bytes_needed", simulation.bytes_needed},
          {"basic_blocks", report.basic_blocks},
          {"basic_block_lanes", report.basic_block_lanes}};
}

// "global_load", "shared_async_copy"
std::string kind_name(const LineAccesses& line) {
  std::string name = fmt::format("{}_{}", to_string(line.space), to_string(line.kind));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

Json access_json(const LineAccesses& line) {
  const AccessCounts& c = line.counts;
  Json json = {{"file", line.at.file},
               {"line", line.at.line},
               {"kind", kind_name(line)},
               {"requests", c.requests},
               {"active_lanes_per_request", c.lanes_per_request()},
               {"bytes_per_lane", c.lane_bytes},
               {"lane_stride", c.lane_stride ? Json(*c.lane_stride) : Json(nullptr)}};
  if (line.space != MemorySpace::global) {
    json["conflict_degree"] = c.conflict_degree();
    json["worst_conflict_degree"] = c.worst_conflict;
    json["wavefronts"] = c.wavefronts;
  } else {
    json["sectors_per_request"] = c.sectors_per_request();
    json["ideal_sectors_per_request"] = c.ideal_sectors_per_request();
    json["lines_per_request"] = static_cast<double>(c.lines) / static_cast<double>(c.requests);
    json["bytes_moved"] = c.sectors * 32;
  }
  if (line.kind == AccessKind::atomic) {
    json["same_address_lanes"] = c.mean_multiplicity();
    json["worst_same_address_lanes"] = c.worst_multiplicity;
  }
  json["meaning"] = meaning_of(line);
  return json;
}

Json sync_json(const LineSyncs& sync) {
  return {{"file", sync.at.file},
          {"line", sync.at.line},
          {"kind", sync.name},
          {"count", sync.count},
          {"lanes", sync.lanes}};
}

Json finding_json(const Finding& finding) {
  Json json = {{"kind", to_string(finding.kind)}, {"kernel", finding.kernel}, {"file", finding.at.file},
               {"line", finding.at.line},         {"what", finding.what},     {"count", finding.count}};
  if (!finding.other.file.empty()) {
    json["other_file"] = finding.other.file;
    json["other_line"] = finding.other.line;
  }
  return json;
}

}  // namespace

std::string simulation_json(const Simulation& simulation, const std::string& command) {
  const Report& report = simulation.run.report;
  Json shape = Json::object();
  for (const auto& [key, extent] : simulation.the_case.shape) shape[key] = extent;
  Json kernels = Json::array();
  for (const auto& kernel : report.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches},
                       {"blocks", kernel.blocks},
                       {"threads_per_block", kernel.threads}});
  }
  Json lines = Json::array();
  for (const LineAccesses& line : report.accesses) lines.push_back(access_json(line));
  for (const LineSyncs& sync : report.syncs) lines.push_back(sync_json(sync));
  Json reports = Json::array();
  for (const Finding& finding : report.findings) reports.push_back(finding_json(finding));
  Json remarks = Json::array();
  for (const Finding& remark : report.remarks) remarks.push_back(finding_json(remark));
  const Json json = {{"schema", kSchema},
                     {"kernel", fmt::format("{}/{}", simulation.operator_name, simulation.rung)},
                     {"shape", shape},
                     {"dtype", to_string(simulation.the_case.dtype)},
                     {"case", case_id(simulation.the_case)},
                     {"command", command},
                     {"commit", fmt::format("{}{}", build_info().commit, build_info().dirty ? "-dirty" : "")},
                     {"verified", simulation.run.wrong.empty()},
                     {"wrong", simulation.run.wrong},
                     {"wrong_on_purpose", simulation.wrong_on_purpose},
                     {"kernels", kernels},
                     {"totals", totals_json(simulation)},
                     {"lines", lines},
                     {"broken_expectations", simulation.broken},
                     {"reports", reports},
                     {"remarks", remarks}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rooftile::lab
