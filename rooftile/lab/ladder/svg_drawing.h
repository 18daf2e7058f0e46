// A drawing on a card, legible on light and dark pages, whose text stands in columns of its own.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace rooftile::lab {

// Pixels.
inline constexpr double kDrawingWidth = 900;
inline constexpr double kDrawingMargin = 20;
inline constexpr double kDrawingRow = 24;
inline constexpr double kDrawingBar = 16;             // of a row's height
inline constexpr double kDrawingNameCharacter = 7.5;  // of the widest usual monospaced fonts at 12 px

// Classes of text: t, m muted, h heading, n name, b bold, e ends there, i within a bar, tp of a peer; of bars: r a rung, w the chosen one,
// p a peer; of lines: g grid, lb bound, lp peer.
class SvgDrawing {
 public:
  explicit SvgDrawing(double height);
  void head(std::string_view title, std::string_view sentence, double height);
  void text(double x, double y, std::string_view classes, std::string_view words);
  void line(double x, double from, double to, std::string_view classes);
  void bar(double x, double y, double width, std::string_view classes);
  [[nodiscard]] std::string finish() && { return std::move(text_) + "</svg>\n"; }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...);
  }
  std::string text_;
};

}  // namespace rooftile::lab
