#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/inspect/decision.h"

namespace rooftile::cli {
namespace {

void print_paragraph(const char* label, const std::string& text, bool colour) {
  if (text.empty()) return;
  constexpr int kIndent = 10;
  const std::vector<std::string> lines = lab::wrap(text, lab::stdout_width() - kIndent);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string head = i == 0 ? label : "";
    const std::string padding(static_cast<std::size_t>(kIndent - lab::display_width(head)), ' ');
    fmt::print("{}{}{}\n", lab::paint(head, lab::Colour::bold, colour), padding, lines[i]);
  }
}

std::string ranks(const TensorSlot& slot) {
  if (slot.min_rank == 0 && slot.max_rank == kMaxRank) return "any rank";
  if (slot.min_rank == slot.max_rank) return fmt::format("rank {}", slot.min_rank);
  return fmt::format("rank {} to {}", slot.min_rank, slot.max_rank);
}

std::string_view direction(const TensorSlot& slot) {
  if (slot.direction == SlotDirection::inout) return "inout";
  return is_written(slot) ? "out" : "in";
}

std::string what_it_is(const TensorSlot& slot) {
  std::string text = slot.doc.empty() && !slot.shape_of.empty() ? "the shape of " + slot.shape_of : slot.doc;
  if (slot.optional) text += "; may be left out";
  if (!slot.may_alias.empty()) {
    std::string names = slot.may_alias;
    constexpr std::string_view kOr = " or ";
    for (std::size_t at = 0; (at = names.find(' ', at)) != std::string::npos; at += kOr.size())
      names.replace(at, 1, kOr);
    text += fmt::format("; may be {} itself", names);
  }
  return text;
}

void print_slots(const OperatorDescriptor& op, bool colour) {
  lab::TextTable table;
  for (const char* header : {"tensor", "in/out", "rank", "dtypes", "what it is"}) table.add_column(header);
  for (const TensorSlot& slot : op.slots) {
    table.add_row({{slot.name},
                   {std::string(direction(slot))},
                   {ranks(slot)},
                   {slot.dtype_of.empty() ? slot.dtypes.to_string() : "as " + slot.dtype_of},
                   {what_it_is(slot)}});
  }
  fmt::print("\n{}", table.render(lab::stdout_width(), colour));
}

void print_params(const OperatorDescriptor& op, bool colour) {
  if (op.params.empty()) return;
  lab::TextTable table;
  for (const char* header : {"parameter", "default", "values", "what it does"}) table.add_column(header);
  for (const ParamSpec& param : op.params) {
    table.add_row({{param.name},
                   {to_string(param.default_value)},
                   {legal_values(param)},
                   {param.of_cases ? "cases only: " + param.doc : param.doc}});
  }
  fmt::print("\n{}", table.render(lab::stdout_width(), colour));
}

void print_rungs(const OperatorDescriptor& op, bool colour) {
  for (const RungRow& rung : op.rungs) {
    fmt::print("\n{}{}\n", lab::paint(rung.id, lab::Colour::bold, colour),
               rung.kind == RungKind::cpu ? " (cpu)" : "");
    print_paragraph("  idea", rung.idea, colour);
    print_paragraph("  change", rung.change, colour);
    print_paragraph("  source", rung.source, colour);
    if (rung.arch.minimum > 0) {
      print_paragraph("  needs",
                      fmt::format("sm_{}{}", rung.arch.minimum, rung.arch.exact ? "a exactly" : " or later"),
                      colour);
    }
    if (rung.determinism == Determinism::not_guaranteed)
      print_paragraph("  note", "not run-to-run deterministic", colour);
    if (!rung.wrong_on_purpose.empty())
      print_paragraph("  note", "wrong on purpose: " + rung.wrong_on_purpose, colour);
  }
}

struct ShowCommand {
  std::string name;
  CaseOptions the_case;
  std::string gpu;
  [[nodiscard]] bool asks_for_a_call() const {
    const CaseOptions& c = the_case;
    return !gpu.empty() || !c.shape.empty() || !c.dtype.empty() || !c.args.empty() || !c.fill.empty() ||
           !c.offset.empty() || !c.seed.empty() || c.in_place;
  }
};

// What the library runs for one call.
int run_call(const Session& session, const OperatorDescriptor& op, const ShowCommand& call) {
  constexpr const char* kUsualGpu = "h200";
  const Result<lab::CaseRequest> request = parse_case_options(call.the_case);
  if (!request.ok()) return report(request.status());
  const Result<lab::GpuModel> gpu = lab::find_gpu(call.gpu.empty() ? kUsualGpu : call.gpu);
  if (!gpu.ok()) return report(gpu.status());
  const Result<lab::Decision> on_gpu = lab::decide(session.registry, op, *request, *gpu);
  if (!on_gpu.ok()) return report(on_gpu.status());
  const Result<lab::Decision> on_cpu = lab::decide_on_cpu(session.registry, op, *request);
  if (!on_cpu.ok()) return report(on_cpu.status());
  const int width = lab::stdout_width();
  const bool colour = lab::stdout_has_colour();
  fmt::print("{}\n{}", lab::decision_table(*on_gpu, width, colour),
             lab::decision_table(*on_cpu, width, colour));
  return kDone;
}

int run(const Session& session, const ShowCommand& call) {
  const Result<const OperatorDescriptor*> found = session.registry.get(call.name);
  if (!found.ok()) return report(found.status());
  const OperatorDescriptor& op = **found;
  if (call.asks_for_a_call()) return run_call(session, op, call);
  const bool colour = lab::stdout_has_colour();
  fmt::print("{}: {}\n\n", lab::paint(op.name, lab::Colour::bold, colour), op.summary);
  print_paragraph("maths", op.maths, colour);
  print_paragraph("model", op.model, colour);
  print_paragraph("source", op.source, colour);
  print_slots(op, colour);
  print_params(op, colour);
  print_rungs(op, colour);
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "show", "an operator's story; with a shape: which rung a call gets, and why. No GPU needed");
  auto call = std::make_shared<ShowCommand>();
  command->add_option("OP", call->name, "an operator of `rooftile list`")->required();
  add_case_options(*command, call->the_case);
  command
      ->add_option("--gpu", call->gpu, "GPU that the call is planned for: h200 (the default), a100, l4 ...")
      ->type_name("NAME");
  command->footer(
      "Examples:\n"
      "  rooftile show reduce\n"
      "  rooftile show reduce --shape n=2^20\n"
      "  rooftile show gemm --shape m=1000,n=1000,k=1000 --gpu a100");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
