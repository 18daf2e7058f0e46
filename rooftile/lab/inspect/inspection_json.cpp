// An inspection as JSON, schema 1: docs/inspect.md. What is not known is null.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/inspect/inspection.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json extents(simt::dim3 e) { return {e.x, e.y, e.z}; }

Json occupancy_json(const Occupancy& o) {
  Json limits = Json::object();
  for (const OccupancyLimit& limit : o.limits) limits[limit.name] = limit.blocks;
  return {{"blocks_per_sm", o.blocks},         {"warps_per_sm", o.warps}, {"most_warps", o.most_warps},
          {"fraction", o.fraction()},          {"bound_by", o.binding},   {"limits", limits},
          {"problem", text_or_null(o.problem)}};
}

Json waves_json(const Waves& waves, bool upper_bound) {
  return {{"count", waves.count},
          {"blocks_at_once", waves.slots},
          {"blocks_at_once_is_upper_bound", upper_bound},
          {"last_fill", waves.last_fill},
          {"idle_share", waves.idle},
          {"busy_multiprocessors", waves.busy_sms}};
}

Json code_json(const SassSummary& code) {
  Json mix = Json::object();
  for (std::size_t i = 0; i < kInstructionClasses; ++i)
    mix[std::string(to_string(static_cast<InstructionClass>(i)))] = code.counts[i];
  Json accesses = Json::array();
  for (const AccessGroup& group : code.accesses) {
    accesses.push_back({{"what", group.what},
                        {"opcode", group.opcode},
                        {"bytes_per_lane", group.bytes > 0 ? Json(group.bytes) : Json(nullptr)},
                        {"count", group.count}});
  }
  Json tells = Json::array();
  for (const Tell& tell : code.tells)
    tells.push_back({{"opcode", tell.opcode}, {"meaning", tell.meaning}, {"count", tell.count}});
  Json loops = Json::array();
  for (const LoopSummary& loop : code.loops) {
    loops.push_back({{"line", text_or_null(loop.line)},
                     {"depth", loop.depth},
                     {"instructions", loop.instructions},
                     {"global_loads", loop.global_loads},
                     {"shared_loads", loop.shared_loads},
                     {"arithmetic", loop.arithmetic},
                     {"copies", loop.copies},
                     {"copied_line", text_or_null(loop.copied_line)}});
  }
  return {{"instructions", code.instructions},
          {"mix", mix},
          {"widest_global_load", code.widest("global load")},
          {"widest_global_store", code.widest("global store")},
          {"accesses", accesses},
          {"uses", tells},
          {"loops", loops}};
}

Json kernel_json(const Inspection& inspection, const InspectedKernel& kernel) {
  const PlannedLaunch& launch = kernel.launch;
  Json json = {{"name", kernel.name},
               {"launch",
                {{"times", launch.times},
                 {"grid", extents(launch.shape.grid)},
                 {"block", extents(launch.shape.block)},
                 {"cluster", extents(launch.shape.cluster)},
                 {"cooperative", launch.shape.cooperative},
                 {"dynamic_shared_bytes", launch.shape.dynamic_shared_bytes}}}};
  const auto known = [&](int KernelResources::*member) {
    return kernel.resources ? Json((*kernel.resources).*member) : Json(nullptr);
  };
  json["registers"] = known(&KernelResources::registers);
  json["assumed_registers"] =
      inspection.assumed_registers ? Json(*inspection.assumed_registers) : Json(nullptr);
  json["stack_bytes"] = known(&KernelResources::stack_bytes);
  json["spill_store_bytes"] = known(&KernelResources::spill_stores);
  json["spill_load_bytes"] = known(&KernelResources::spill_loads);
  json["static_shared_bytes"] = known(&KernelResources::shared_bytes);
  json["barriers"] = known(&KernelResources::barriers);
  json["occupancy"] = occupancy_json(kernel.occupancy);
  json["waves"] = kernel.waves ? waves_json(*kernel.waves, launch.cluster_blocks() > 1) : Json(nullptr);
  json["code"] = kernel.code ? code_json(*kernel.code) : Json(nullptr);
  return json;
}

Json inspection_object(const Inspection& inspection) {
  Json shape = Json::object();
  for (const auto& [key, extent] : inspection.the_case.shape) shape[key] = extent;
  Json missing = Json::array();
  for (const std::string& reason : {inspection.compiler_missing, inspection.disassembler_missing}) {
    if (!reason.empty()) missing.push_back(reason);
  }
  Json kernels = Json::array();
  for (const InspectedKernel& kernel : inspection.kernels) kernels.push_back(kernel_json(inspection, kernel));
  return {{"arch", inspection.arch.name},
          {"gpu", {{"name", inspection.gpu.name}, {"multiprocessors", inspection.gpu.multiprocessors}}},
          {"shape", shape},
          {"dtype", to_string(inspection.the_case.dtype)},
          {"case", case_id(inspection.the_case)},
          {"source", text_or_null(inspection.source)},
          {"compiler", text_or_null(inspection.compiler)},
          {"missing", missing},
          {"kernels", kernels}};
}

// What every answer begins with.
Json head_of(const Inspection& inspection, const std::string& command) {
  return {{"schema", kSchema},
          {"kernel", fmt::format("{}/{}", inspection.operator_name, inspection.rung)},
          {"wrong_on_purpose", inspection.wrong_on_purpose},
          {"command", command},
          {"commit", fmt::format("{}{}", build_info().commit, build_info().dirty ? "-dirty" : "")}};
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string inspection_json(const Inspection& inspection, const std::string& command) {
  Json json = head_of(inspection, command);
  json.update(inspection_object(inspection));
  return text_of(json);
}

std::string archs_json(const std::vector<ArchInspection>& archs, const std::string& command) {
  Json json;
  Json list = Json::array();
  for (const ArchInspection& arch : archs) {
    if (arch.inspection && json.is_null()) json = head_of(*arch.inspection, command);
    list.push_back(arch.inspection ? inspection_object(*arch.inspection)
                                   : Json{{"arch", arch.arch.name}, {"reason", arch.reason}});
  }
  json["archs"] = list;
  return text_of(json);
}

}  // namespace rooftile::lab
