#include "rooftile/lab/ladder/climb_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "rooftile/lab/base/source_parts.h"
#include "rooftile/lab/ladder/record_text.h"

namespace rooftile::lab {

void draw_climb_row(SvgDrawing& drawing, const RecordRow& row, double bar_start, double bar_width, double top,
                    const std::string& last) {
  const double baseline = climb_baseline(top);
  drawing.text(kDrawingMargin, baseline, row.chosen ? "t n b" : "t n", row.rung);
  drawing.bar(bar_start, top + (kDrawingRow - kDrawingBar) / 2, std::max(bar_width, 1.0),
              row.chosen      ? "w"
              : row.is_ours() ? "r"
                              : "p");
  drawing.text(
      kClimbTimeColumn, baseline, "t e",
      fmt::format("{}{}{}", time_text(row.median_us), row.steady ? "" : "?", row.stale ? kStaleMark : ""));
  drawing.text(kClimbLastColumn, baseline, row.chosen ? "t e b" : "t e", last);
}

void ClimbMarks::see(const RecordRow& row) {
  any_stale_ = any_stale_ || row.stale;
  any_unsteady_ = any_unsteady_ || !row.steady;
}

void ClimbMarks::draw_legend(SvgDrawing& drawing, double height) const {
  std::string legend;
  if (any_stale_) {
    legend += fmt::format("{} measured from other sources than those that stand here  ", kStaleMark);
  }
  if (any_unsteady_) legend += "? not settled";
  if (!legend.empty()) drawing.text(kDrawingMargin, height - 12, "m", legend);
}

}  // namespace rooftile::lab
