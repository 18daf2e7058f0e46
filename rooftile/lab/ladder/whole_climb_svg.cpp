// The ladders of an operator in all its dtypes, one above the other: a bar per rung and peer, by its rate. Rates of a
// climb differ by powers of ten, and so do the lines behind the bars.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rooftile/lab/ladder/climb_rows.h"
#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/ladder/record_text.h"
#include "rooftile/lab/ladder/svg_drawing.h"

namespace rooftile::lab {
namespace {

constexpr double kBarsEnd = kClimbTimeColumn - 90;
constexpr double kTop = 84;

struct Bar {
  const RecordRow* row;
  double rate;
};

double rate_of(const Record& record, const RecordRow& row) {
  return counts_flops(record) ? row.tflops : row.gbps;
}

std::vector<Bar> bars_of(const Record& record) {
  std::vector<Bar> bars;
  for (const RecordRow& row : record.rows) {
    const double rate = rate_of(record, row);
    if (row.timed && row.kind != "bound" && rate > 0) bars.push_back({&row, rate});
  }
  return bars;
}

// Logarithmic, from the power of ten below the slowest to the fastest.
struct RateScale {
  double least = 0;  // of log10
  double most = 0;
  double bars_start = 0;

  [[nodiscard]] double x(double rate) const {
    return bars_start + (std::log10(rate) - least) / (most - least) * (kBarsEnd - bars_start);
  }
};

RateScale scale_of(const std::vector<const Record*>& records) {
  double slowest = 0;
  double fastest = 0;
  std::size_t longest = 0;
  for (const Record* record : records) {
    for (const Bar& bar : bars_of(*record)) {
      slowest = slowest == 0 ? bar.rate : std::min(slowest, bar.rate);
      fastest = std::max(fastest, bar.rate);
      longest = std::max(longest, bar.row->rung.size());
    }
  }
  RateScale scale;
  scale.least = std::ceil(std::log10(slowest)) - 1;
  scale.most = std::max(std::log10(fastest), scale.least + 1);
  scale.bars_start = kDrawingMargin + kDrawingNameCharacter * static_cast<double>(longest) + 12;
  return scale;
}

}  // namespace

std::string whole_climb_svg(const OperatorRecords& of) {
  if (of.whole_climb.empty()) return "";
  const RateScale scale = scale_of(of.whole_climb);
  double bottom = kTop;
  ClimbMarks marks;
  for (const Record* record : of.whole_climb) {
    const std::vector<Bar> bars = bars_of(*record);
    bottom += kDrawingRow * static_cast<double>(bars.size() + 1);
    for (const Bar& bar : bars) marks.see(*bar.row);
  }
  const double height = bottom + 26 + marks.height();
  const Record& first = *of.whole_climb.front();
  const std::string title = fmt::format("The whole climb of {} on {}", of.name, first.machine);
  SvgDrawing drawing(height);
  drawing.head(title, whole_climb_sentence(of), height);
  drawing.text(kDrawingMargin, 32, "t h", title);
  drawing.text(kDrawingMargin, 52, "m", fmt::format("{}, {}", shape_text(first.the_case), first.mode));
  drawing.text(kClimbTimeColumn, kTop - 8, "m e", "time");
  drawing.text(kClimbLastColumn, kTop - 8, "m e", rate_unit(first));
  for (double power = scale.least; power <= scale.most; ++power) {
    const double x = scale.x(std::pow(10.0, power));
    drawing.line(x, kTop, bottom, "g");
    drawing.text(x + 3, bottom + 16, "m", fmt::format("{:g}", std::pow(10.0, power)));
  }
  double top = kTop;
  for (const Record* record : of.whole_climb) {
    drawing.text(kDrawingMargin, climb_baseline(top), "t b", record->the_case.dtype);
    top += kDrawingRow;
    for (const Bar& bar : bars_of(*record)) {
      draw_climb_row(drawing, *bar.row, scale.bars_start, scale.x(bar.rate) - scale.bars_start, top,
                     rate_text(*record, *bar.row));
      top += kDrawingRow;
    }
  }
  marks.draw_legend(drawing, height);
  return std::move(drawing).finish();
}

std::string whole_climb_sentence(const OperatorRecords& of) {
  if (of.whole_climb.empty()) return "";
  const Record* fastest_of = nullptr;
  Bar fastest{};
  std::size_t count = 0;
  for (const Record* record : of.whole_climb) {
    for (const Bar& bar : bars_of(*record)) {
      ++count;
      if (bar.row->is_ours() && bar.rate > fastest.rate) {
        fastest = bar;
        fastest_of = record;
      }
    }
  }
  const Record& first = *of.whole_climb.front();
  const std::vector<Bar> bars = bars_of(first);
  if (fastest_of == nullptr || bars.empty()) return fmt::format("{} bars", count);
  return fmt::format("{} bars, from {} of {} at {} {} to {} of {} at {}", count, bars.front().row->rung,
                     first.the_case.dtype, rate_text(first, *bars.front().row), rate_unit(first),
                     fastest.row->rung, fastest_of->the_case.dtype, rate_text(*fastest_of, *fastest.row));
}

}  // namespace rooftile::lab
