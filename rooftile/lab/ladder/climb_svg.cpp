// The climb as a drawing: a bar per rung, as long as its share of the bound; the bound and the
// best peer are lines across them. Text stands in columns of its own, so that nothing overlaps.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/ladder/climb_rows.h"
#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/ladder/record_text.h"
#include "rooftile/lab/ladder/svg_drawing.h"

namespace rooftile::lab {
namespace {

// Pixels.
constexpr double kBarsEnd = kClimbTimeColumn - 120;
constexpr double kLabelInBar = 150;       // a shorter bar has its label behind it
constexpr std::size_t kLineLength = 125;  // characters of the line below the title

// Broken after commas.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (text.size() > kLineLength) {
    const std::size_t comma = text.rfind(", ", kLineLength - 2);
    if (comma == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, comma + 1));
    text.remove_prefix(comma + 2);
  }
  lines.emplace_back(text);
  return lines;
}

// What bars and lines show: shares of the bound, or of the fastest where no bound was measured.
struct Scale {
  double best_us = 0;
  std::string bound{};  // "streaming bound"; empty: none was measured
  double bars_start = 0;
  double most = 1;

  [[nodiscard]] double share(const RecordRow& row) const {
    return !bound.empty() && row.bound_fraction > 0 ? row.bound_fraction : best_us / row.median_us;
  }
  [[nodiscard]] double x(double share) const { return bars_start + share / most * (kBarsEnd - bars_start); }
  [[nodiscard]] std::string of() const { return bound.empty() ? "of the fastest" : "of the " + bound; }
};

std::vector<const RecordRow*> bars_of(const Record& record) {
  std::vector<const RecordRow*> bars;
  for (const RecordRow& row : record.rows) {
    if (row.timed && row.kind != "bound") bars.push_back(&row);
  }
  return bars;
}

Scale scale_of(const Record& record, const std::vector<const RecordRow*>& bars) {
  const RecordRow* bound = bound_row(record);
  Scale scale;
  if (bound != nullptr) scale.bound = counts_flops(record) ? "compute bound" : "streaming bound";
  scale.best_us = (bound != nullptr ? bound : fastest_row(record))->median_us;
  std::size_t longest = 0;
  for (const RecordRow* row : bars) {
    scale.most = std::max(scale.most, scale.share(*row));
    longest = std::max(longest, row->rung.size());
  }
  scale.bars_start = kDrawingMargin + kDrawingNameCharacter * static_cast<double>(longest) + 12;
  return scale;
}

void draw_row(SvgDrawing& drawing, const Scale& scale, const RecordRow& row, double top) {
  const double share = scale.share(row);
  const double width = scale.x(share) - scale.bars_start;
  draw_climb_row(drawing, row, scale.bars_start, width, top, fmt::format("{:.3f}", share));
  if (row.chosen) {
    const bool inside = width >= kLabelInBar;
    drawing.text(scale.bars_start + (inside ? 8 : std::max(width, 1.0) + 6), climb_baseline(top),
                 inside ? "i" : "t", "the library’s choice");
  }
}

// Of two lines the left one has its label to the left, the right one to the right.
void draw_lines(SvgDrawing& drawing, const Scale& scale, const Record& record, double top, double bottom) {
  const RecordRow* peer = best_peer(record);
  const double bound_x = scale.x(1);
  const double peer_x = peer == nullptr ? bound_x : scale.x(scale.share(*peer));
  const bool peer_is_left = peer != nullptr && peer_x <= bound_x;
  const auto label = [&](double x, bool to_left, std::string_view classes, const std::string& words) {
    drawing.text(x + (to_left ? -6 : 6), bottom + 16, fmt::format("{}{}", classes, to_left ? " e" : ""),
                 words);
  };
  drawing.line(bound_x, top, bottom + 18, "lb");
  label(bound_x, peer != nullptr && !peer_is_left, "t",
        scale.bound.empty() ? "the fastest" : fmt::format("{} {}", scale.bound, time_text(scale.best_us)));
  if (peer == nullptr) return;
  drawing.line(peer_x, top, bottom + 18, "lp");
  label(peer_x, peer_is_left, "tp", fmt::format("best peer: {} {}", peer->rung, time_text(peer->median_us)));
}

}  // namespace

std::string climb_svg(const OperatorRecords& of) {
  if (of.climb == nullptr) return "";
  const Record& record = *of.climb;
  const std::vector<const RecordRow*> bars = bars_of(record);
  const Scale scale = scale_of(record, bars);
  const std::vector<std::string> subtitle =
      lines_of(fmt::format("{}, {}, {} read, {} written", case_text(record.the_case), record.mode,
                           format_bytes(record.read_bytes), format_bytes(record.write_bytes)));
  const double top = 50 + 18 * static_cast<double>(subtitle.size()) + 18;
  const double bottom = top + kDrawingRow * static_cast<double>(bars.size());
  ClimbMarks marks;
  for (const RecordRow* row : bars) marks.see(*row);
  const double height = bottom + 32 + marks.height();

  const std::string title = fmt::format("The climb of {} on {}", of.name, record.machine);
  SvgDrawing drawing(height);
  drawing.head(title, climb_sentence(of), height);
  drawing.text(kDrawingMargin, 32, "t h", title);
  for (std::size_t i = 0; i < subtitle.size(); ++i) {
    drawing.text(kDrawingMargin, 52 + 18 * static_cast<double>(i), "m", subtitle[i]);
  }
  drawing.text(scale.bars_start, top - 8, "m", fmt::format("share {}", scale.of()));
  drawing.text(kClimbTimeColumn, top - 8, "m e", "time");
  drawing.text(kClimbLastColumn, top - 8, "m e", scale.bound.empty() ? "share" : "of bound");
  for (const double share : {0.25, 0.5, 0.75}) drawing.line(scale.x(share), top, bottom, "g");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    draw_row(drawing, scale, *bars[i], top + kDrawingRow * static_cast<double>(i));
  }
  draw_lines(drawing, scale, record, top, bottom);
  marks.draw_legend(drawing, height);
  return std::move(drawing).finish();
}

std::string climb_sentence(const OperatorRecords& of) {
  const Record& record = *of.climb;
  const std::vector<const RecordRow*> bars = bars_of(record);
  const Scale scale = scale_of(record, bars);
  const RecordRow* chosen = chosen_row(record);
  const RecordRow* peer = best_peer(record);
  std::string text = fmt::format("{} bars, from {} at {:.3f} {}", bars.size(), bars.front()->rung,
                                 scale.share(*bars.front()), scale.of());
  if (chosen != nullptr) {
    text += fmt::format(" to {}, which the library chooses, at {:.3f}", chosen->rung, scale.share(*chosen));
  }
  if (peer != nullptr) text += fmt::format("; the best peer, {}, at {:.3f}", peer->rung, scale.share(*peer));
  return text + "; all figures are in the table";
}

}  // namespace rooftile::lab
