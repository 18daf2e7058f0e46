// An inspection for people.
#include <fmt/format.h>

#include <algorithm>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/inspect/inspection.h"

namespace rooftile::lab {
namespace {

constexpr int kLabelWidth = 12;

struct Page {
  int width;
  bool colour;
  std::string text{};

  void line(const std::string& content, Colour colour_of = Colour::none) {
    for (const std::string& part : wrap(content, width)) text += paint(part, colour_of, colour) + "\n";
  }
  // A label, and what belongs to it beside it.
  void entry(const std::string& label, const std::string& content, Colour colour_of = Colour::none) {
    std::string head = fmt::format("{:<{}}", label, kLabelWidth);
    for (const std::string& part : wrap(content, width - kLabelWidth)) {
      text += head + paint(part, colour_of, colour) + "\n";
      head.assign(kLabelWidth, ' ');
    }
  }
};

std::string extents(simt::dim3 e) {
  if (e.z != 1) return fmt::format("{} x {} x {}", e.x, e.y, e.z);
  return e.y != 1 ? fmt::format("{} x {}", e.x, e.y) : fmt::format("{}", e.x);
}

std::string bytes_text(double bytes) { return bytes == 0 ? "none" : format_bytes(bytes); }

std::string launch_text(const PlannedLaunch& launch) {
  const int threads = launch.block_threads();
  std::string text =
      fmt::format("{}grid {} ({} block{}), block {} ({} warp{})",
                  launch.times > 1 ? fmt::format("{} times ", launch.times) : "", extents(launch.shape.grid),
                  launch.blocks(), launch.blocks() == 1 ? "" : "s", extents(launch.shape.block),
                  (threads + kWarpThreads - 1) / kWarpThreads, threads <= kWarpThreads ? "" : "s");
  if (launch.cluster_blocks() > 1) text += fmt::format(", clusters of {} blocks", launch.cluster_blocks());
  if (launch.shape.cooperative) text += ", cooperative: all blocks must be resident at once";
  return text;
}

void add_resources(Page& page, const Inspection& inspection, const InspectedKernel& kernel) {
  const auto dynamic = static_cast<double>(kernel.launch.shape.dynamic_shared_bytes);
  if (!kernel.resources) {
    if (inspection.assumed_registers)
      page.entry("registers", fmt::format("{} per thread, by --registers", *inspection.assumed_registers));
    page.entry("shared", fmt::format("static not known, {} dynamic", bytes_text(dynamic)));
    return;
  }
  const KernelResources& r = *kernel.resources;
  page.entry("registers", inspection.assumed_registers
                              ? fmt::format("{} per thread by --registers; {} as compiled",
                                            *inspection.assumed_registers, r.registers)
                              : fmt::format("{} per thread", r.registers));
  if (r.spill_stores + r.spill_loads > 0) {
    page.entry("spills",
               fmt::format("{} bytes of spill stores and {} of spill loads stand in the code: "
                           "registers that go through local memory",
                           r.spill_stores, r.spill_loads),
               Colour::red);
  } else {
    page.entry("spills", "none");
  }
  page.entry("stack", r.stack_bytes > 0 ? fmt::format("{} bytes of local memory per thread", r.stack_bytes)
                                        : std::string("none"));
  page.entry("shared",
             r.shared_bytes + dynamic > 0
                 ? fmt::format("{} static, {} dynamic", bytes_text(r.shared_bytes), bytes_text(dynamic))
                 : std::string("none"));
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void add_occupancy(Page& page, const Inspection& inspection, const InspectedKernel& kernel) {
  const Occupancy& o = kernel.occupancy;
  if (o.blocks == 0) {
    page.entry("occupancy", "a block does not fit: " + o.problem, Colour::red);
    return;
  }
  const bool whole = kernel.resources || inspection.assumed_registers;
  page.entry("occupancy", fmt::format("{}{} block{} per SM, {} of {} warps ({}), bound by {}",
                                      whole ? "" : "at most ", o.blocks, o.blocks == 1 ? "" : "s", o.warps,
                                      o.most_warps, percent(o.fraction()), fmt::join(o.binding, " and ")));
  std::string limits;
  for (const OccupancyLimit& limit : o.limits)
    limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ", limit.name, limit.blocks);
  page.entry("", "blocks that each allows: " + limits, Colour::dim);

  const Waves& waves = *kernel.waves;
  const std::string at_once =
      fmt::format("{}{} blocks at once on {} SMs", kernel.launch.cluster_blocks() > 1 ? "at most " : "",
                  waves.slots, inspection.gpu.multiprocessors);
  std::string text;
  if (waves.count <= 1) {
    text = fmt::format("one, {} full ({}); {} SM{} a block", percent(waves.count), at_once, waves.busy_sms,
                       waves.busy_sms == 1 ? " gets" : "s get");
  } else {
    text =
        fmt::format("{:.2f} ({}); the last is {} full: {} of the GPU's time is tail, were all blocks alike",
                    waves.count, at_once, percent(waves.last_fill), percent(waves.idle));
  }
  page.entry("waves", text);
  if (kernel.launch.shape.cooperative && kernel.launch.blocks() > waves.slots)
    page.entry("", "more blocks than are resident at once: the launch would fail", Colour::red);
}

std::string accesses_text(const SassSummary& code) {
  std::string text;
  std::string_view before;
  for (const AccessGroup& group : code.accesses) {
    if (group.what != before) text += fmt::format("{}{}: ", text.empty() ? "" : "; ", group.what);
    if (group.what == before) text += ", ";
    text += fmt::format("{} x {}", group.count, group.opcode);
    if (group.bytes > 0) text += fmt::format(" ({} bytes)", group.bytes);
    before = group.what;
  }
  return text.empty() ? "none" : text;
}

// "reduce_rows.h:45"; the folder is that of the rung or known.
std::string file_name(const std::string& line) {
  return line.empty() ? "an unknown line" : line.substr(line.rfind('/') + 1);
}

std::string unrolled_text(const LoopSummary& loop) {
  if (loop.copies == 0) return "no loads, no float arithmetic";
  if (loop.copies == 1) return "no";
  return fmt::format("{} times: one {} of {}", loop.copies,
                     loop.global_loads + loop.shared_loads > 0 ? "load" : "operation",
                     file_name(loop.copied_line));
}

void add_loops(Page& page, const SassSummary& code) {
  if (code.loops.empty()) {
    page.entry("loops", "none: what loops the source has were unrolled");
    return;
  }
  TextTable table;
  table.add_column("loop at");
  for (const char* header : {"instructions", "global loads", "shared loads", "arithmetic"})
    table.add_column(header, Align::right);
  table.add_column("unrolled");
  for (const LoopSummary& loop : code.loops) {
    table.add_row({{std::string(2 * static_cast<std::size_t>(loop.depth), ' ') + file_name(loop.line)},
                   {fmt::format("{}", loop.instructions)},
                   {fmt::format("{}", loop.global_loads)},
                   {fmt::format("{}", loop.shared_loads)},
                   {fmt::format("{}", loop.arithmetic)},
                   {unrolled_text(loop)}});
  }
  page.text += table.render(page.width, page.colour);
}

void add_code(Page& page, const SassSummary& code) {
  std::string mix;
  for (std::size_t i = 0; i < kInstructionClasses; ++i) {
    if (code.counts[i] == 0) continue;
    mix += fmt::format("{}{} {} ({})", mix.empty() ? "" : ", ", code.counts[i],
                       to_string(static_cast<InstructionClass>(i)),
                       percent(static_cast<double>(code.counts[i]) / code.instructions));
  }
  page.entry("code", fmt::format("{} instructions: {}", code.instructions, mix));
  page.entry("memory", accesses_text(code));
  std::string tells;
  for (const Tell& tell : code.tells)
    tells += fmt::format("{}{} x {} ({})", tells.empty() ? "" : ", ", tell.count, tell.opcode, tell.meaning);
  if (!tells.empty()) page.entry("it uses", tells);
  add_loops(page, code);
}

}  // namespace

std::string inspection_table(const Inspection& inspection, int width, bool colour) {
  Page page{width, colour};
  page.line(fmt::format("{}/{} for {} on {} ({} SMs): {}", inspection.operator_name, inspection.rung,
                        inspection.arch.name, inspection.gpu.name, inspection.gpu.multiprocessors,
                        case_id(inspection.the_case)),
            Colour::bold);
  if (!inspection.source.empty())
    page.line(fmt::format("{}, compiled by {}", inspection.source, inspection.compiler), Colour::dim);
  if (!inspection.wrong_on_purpose.empty())
    page.line("wrong on purpose: " + inspection.wrong_on_purpose, Colour::red);
  if (inspection.other_case)
    page.line("another case than the operator's default, which this rung does not serve", Colour::dim);
  if (inspection.kernels.empty()) page.line("this case launches nothing");
  for (const InspectedKernel& kernel : inspection.kernels) {
    page.text += "\n";
    page.line(kernel.name, Colour::bold);
    page.entry("launch", launch_text(kernel.launch));
    add_resources(page, inspection, kernel);
    add_occupancy(page, inspection, kernel);
    if (kernel.code) add_code(page, *kernel.code);
  }
  const auto any = [&](auto&& holds) {
    return std::any_of(inspection.kernels.begin(), inspection.kernels.end(), holds);
  };
  page.text += "\n";
  if (!inspection.disassembler_missing.empty())
    page.line("no machine code: " + inspection.disassembler_missing, Colour::yellow);
  if (any([](const InspectedKernel& kernel) { return kernel.launch.cluster_blocks() > 1; }))
    page.line("a cluster stays within one GPC, whose sizes are not known here: fewer may run at once",
              Colour::dim);
  if (any([](const InspectedKernel& kernel) { return kernel.code.has_value(); }))
    page.line("instructions are counted where they stand in the code, not how often they run", Colour::dim);
  return page.text;
}

}  // namespace rooftile::lab
