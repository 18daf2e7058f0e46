// What the drawings of climbs have in common: a row's name, bar and time, and the marks of times.
#pragma once

#include <string>

#include "rooftile/lab/ladder/records.h"
#include "rooftile/lab/ladder/svg_drawing.h"

namespace rooftile::lab {

// Pixels: the right edges of the two columns behind the bars.
inline constexpr double kClimbLastColumn = kDrawingWidth - kDrawingMargin;
inline constexpr double kClimbTimeColumn = kClimbLastColumn - 70;

// The base line of a row's text.
[[nodiscard]] constexpr double climb_baseline(double top) { return top + kDrawingRow / 2 + 4; }

// Name, bar and time of a row; `last` stands in the last column.
void draw_climb_row(SvgDrawing& drawing, const RecordRow& row, double bar_start, double bar_width, double top,
                    const std::string& last);

// The marks that the times of these rows carry.
class ClimbMarks {
 public:
  void see(const RecordRow& row);
  // Pixels that the legend takes.
  [[nodiscard]] double height() const { return any_stale_ || any_unsteady_ ? 20 : 0; }
  // At the foot of a drawing of this height; nothing where no row has a mark.
  void draw_legend(SvgDrawing& drawing, double height) const;

 private:
  bool any_stale_ = false;
  bool any_unsteady_ = false;
};

}  // namespace rooftile::lab
