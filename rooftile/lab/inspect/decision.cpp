#include "rooftile/lab/inspect/decision.h"

#include <fmt/format.h>

#include <utility>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/inspect/reserved_tensors.h"

namespace rooftile::lab {
namespace {

Result<Decision> decide(const Registry& registry, const OperatorDescriptor& op, const CaseRequest& request,
                        const DeviceProperties& device) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  const bool on_cpu = device.device.kind == DeviceKind::cpu;
  ROOFTILE_TRY_ASSIGN(Case c, make_case(op, *cases, request, on_cpu ? DeviceKind::cpu : DeviceKind::cuda));
  ROOFTILE_TRY_ASSIGN(const TensorPlan plan, plan_tensors(op, *cases, c));
  ROOFTILE_TRY_ASSIGN(const ReservedTensors tensors, reserve_tensors(op, c, plan, device.device));
  const Result<AnyArgs> args = op.make_args(tensors.views, c.params);
  if (!args.ok()) return args.status().with_operator(op.name);

  Decision decision{.the_case = std::move(c),
                    .device = on_cpu ? "this machine's CPU" : std::string(device.name),
                    .writes_nothing = writes_nothing(op, *args)};
  if (decision.writes_nothing) return decision;  // choose() and plan() are not for such calls
  if (op.explain) decision.explanation = op.explain(*args, device);
  const std::string_view chosen = op.choose ? op.choose(*args, device) : "";
  for (const RungRow& rung : op.rungs) {
    if ((rung.kind == RungKind::cpu) != on_cpu || !rung.wrong_on_purpose.empty()) continue;
    RungAnswer answer{.rung = rung.id,
                      .reason = on_cpu ? "" : arch_reason(rung.arch, device.compute_capability)};
    if (answer.reason.empty() && rung.supports) answer.reason = rung.supports(*args, device);
    if (answer.reason.empty()) answer.workspace = plan_rung(rung, *args, device).workspace;
    if (answer.reason.empty() && rung.id == chosen) decision.chosen = rung.id;
    decision.rungs.push_back(std::move(answer));
  }
  return decision;
}

std::string workspace_text(const WorkspaceSpec& spec) {
  const double bytes = static_cast<double>(spec.bytes + spec.zeroed_bytes);
  return bytes == 0 ? "none" : format_bytes(bytes);
}

}  // namespace

Result<Decision> decide(const Registry& registry, const OperatorDescriptor& op, const CaseRequest& request,
                        const GpuModel& gpu) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties device, simulated_properties(gpu));
  return decide(registry, op, request, device);
}

Result<Decision> decide_on_cpu(const Registry& registry, const OperatorDescriptor& op,
                               const CaseRequest& request) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* device, device_properties(kCpu));
  return decide(registry, op, request, *device);
}

std::string decision_table(const Decision& decision, int width, bool colour) {
  std::string text = fmt::format("{} on {}: {}\n", case_id(decision.the_case), decision.device,
                                 decision.writes_nothing   ? "nothing is written, and no rung launched"
                                 : decision.chosen.empty() ? "no rung serves this call"
                                                           : paint(decision.chosen, Colour::bold, colour));
  if (decision.writes_nothing) return text;
  if (!decision.explanation.empty()) text += "\n" + decision.explanation;
  if (text.back() != '\n') text += '\n';
  TextTable table;
  for (const char* header : {"rung", "workspace", "why not"}) table.add_column(header);
  for (const RungAnswer& answer : decision.rungs) {
    const bool serves = answer.reason.empty();
    const Colour paint_of = answer.rung == decision.chosen ? Colour::bold : Colour::none;
    table.add_row(
        {{answer.rung, paint_of}, {serves ? workspace_text(answer.workspace) : "-"}, {answer.reason}});
  }
  return text + "\n" + table.render(width, colour);
}

}  // namespace rooftile::lab
