// The climb as a drawing: a bar per rung, as long as its share of the bound; the bound and the
// best peer are lines across them. Text stands in columns of its own, so that nothing overlaps.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/ladder/record_text.h"

namespace rooftile::lab {
namespace {

// Pixels.
constexpr double kWidth = 900;
constexpr double kMargin = 20;
constexpr double kRowHeight = 24;
constexpr double kBarHeight = 16;
constexpr double kNameCharacter = 7.5;             // of the widest usual monospaced fonts at 12 px
constexpr double kShareColumn = kWidth - kMargin;  // right edges
constexpr double kTimeColumn = kShareColumn - 70;
constexpr double kBarsEnd = kTimeColumn - 120;
constexpr double kLabelInBar = 150;       // a shorter bar has its label behind it
constexpr std::size_t kLineLength = 125;  // characters of the line below the title

// The card has a background of its own: a page's theme and a reader's system need not agree. Contrast with
// it is at least 4.5 for text and 3 for bars and lines, in both.
constexpr std::string_view kStyle =
    "svg{font:12px -apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif}"
    ".c{fill:#fff;stroke:#d1d9e0}.t{fill:#1f2328}.h{font-size:16px;font-weight:600}.m{fill:#59636e}"
    ".n{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}.b{font-weight:700}"
    ".e{text-anchor:end}.g{stroke:#d1d9e0}.r{fill:#4a8fd3}.w{fill:#0550ae}.p{fill:#8b6a3e}"
    ".i{fill:#fff;font-size:11px}.lb{stroke:#1f2328;stroke-width:1.5}"
    ".lp{stroke:#bc4c00;stroke-width:1.5;stroke-dasharray:5 3}.tp{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){.c{fill:#0d1117;stroke:#3d444d}.t{fill:#f0f6fc}.m{fill:#9198a1}"
    ".g{stroke:#3d444d}.r{fill:#316dca}.w{fill:#79c0ff}.p{fill:#b08d5b}.i{fill:#0d1117}.lb{stroke:#f0f6fc}"
    ".lp{stroke:#f0883e}.tp{fill:#f0883e}}";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

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
  scale.bars_start = kMargin + kNameCharacter * static_cast<double>(longest) + 12;
  return scale;
}

class Drawing {
 public:
  explicit Drawing(double height) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"t d\">\n",
        kWidth, height);
  }
  void head(std::string_view title, std::string_view sentence, double height) {
    add("<title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n<style>{}</style>\n", escaped(title),
        escaped(sentence), kStyle);
    add("<rect class=\"c\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n", kWidth - 1,
        height - 1);
  }
  void text(double x, double y, std::string_view classes, std::string_view words) {
    add("<text class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\">{}</text>\n", classes, x, y, escaped(words));
  }
  void line(double x, double from, double to, std::string_view classes) {
    add("<path class=\"{}\" d=\"M{:.5g} {:.5g}V{:.5g}\"/>\n", classes, x, from, to);
  }
  void bar(double x, double y, double width, std::string_view classes) {
    add("<rect class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{}\" rx=\"2\"/>\n", classes,
        x, y, width, kBarHeight);
  }
  [[nodiscard]] std::string finish() && { return std::move(text_) + "</svg>\n"; }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...);
  }
  std::string text_;
};

void draw_row(Drawing& drawing, const Scale& scale, const RecordRow& row, double top) {
  const double baseline = top + kRowHeight / 2 + 4;
  const double width = std::max(scale.x(scale.share(row)) - scale.bars_start, 1.0);
  drawing.text(kMargin, baseline, row.chosen ? "t n b" : "t n", row.rung);
  drawing.bar(scale.bars_start, top + (kRowHeight - kBarHeight) / 2, width,
              row.chosen      ? "w"
              : row.is_ours() ? "r"
                              : "p");
  if (row.chosen) {
    const bool inside = width >= kLabelInBar;
    drawing.text(scale.bars_start + (inside ? 8 : width + 6), baseline, inside ? "i" : "t",
                 "the library’s choice");
  }
  drawing.text(
      kTimeColumn, baseline, "t e",
      fmt::format("{}{}{}", time_text(row.median_us), row.steady ? "" : "?", row.stale ? kStaleMark : ""));
  drawing.text(kShareColumn, baseline, row.chosen ? "t e b" : "t e", fmt::format("{:.3f}", scale.share(row)));
}

// Of two lines the left one has its label to the left, the right one to the right.
void draw_lines(Drawing& drawing, const Scale& scale, const Record& record, double top, double bottom) {
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
  const double bottom = top + kRowHeight * static_cast<double>(bars.size());
  const bool any_stale =
      std::any_of(bars.begin(), bars.end(), [](const RecordRow* row) { return row->stale; });
  const bool any_unsteady =
      std::any_of(bars.begin(), bars.end(), [](const RecordRow* row) { return !row->steady; });
  const double height = bottom + 32 + (any_stale || any_unsteady ? 20 : 0);

  const std::string title = fmt::format("The climb of {} on {}", of.name, record.machine);
  Drawing drawing(height);
  drawing.head(title, climb_sentence(of), height);
  drawing.text(kMargin, 32, "t h", title);
  for (std::size_t i = 0; i < subtitle.size(); ++i) {
    drawing.text(kMargin, 52 + 18 * static_cast<double>(i), "m", subtitle[i]);
  }
  drawing.text(scale.bars_start, top - 8, "m", fmt::format("share {}", scale.of()));
  drawing.text(kTimeColumn, top - 8, "m e", "time");
  drawing.text(kShareColumn, top - 8, "m e", scale.bound.empty() ? "share" : "of bound");
  for (const double share : {0.25, 0.5, 0.75}) drawing.line(scale.x(share), top, bottom, "g");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    draw_row(drawing, scale, *bars[i], top + kRowHeight * static_cast<double>(i));
  }
  draw_lines(drawing, scale, record, top, bottom);
  std::string legend;
  if (any_stale)
    legend += fmt::format("{} measured from other sources than those that stand here  ", kStaleMark);
  if (any_unsteady) legend += "? not settled";
  if (!legend.empty()) drawing.text(kMargin, height - 12, "m", legend);
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
