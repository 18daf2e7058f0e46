// Aligned columns for the terminal; the last column wraps into what is left of the width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rooftile::lab {

enum class Align { left, right };
enum class Colour { none, green, red, yellow, dim, bold };

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

class TextTable {
 public:
  void add_column(std::string header, Align align = Align::left);
  void add_row(std::vector<Cell> cells);  // missing cells are empty
  // A line across all columns, as it stands.
  void add_line(std::string text);

  [[nodiscard]] std::string render(int width, bool colour) const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  struct Row {
    std::vector<Cell> cells;
    bool is_line = false;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Code points: what a terminal shows of UTF-8 without wide characters.
[[nodiscard]] int display_width(std::string_view text);
// Lines of at most `width` columns, broken at spaces; a longer word stands alone.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, int width);
[[nodiscard]] std::string paint(std::string_view text, Colour colour, bool enabled);

}  // namespace rooftile::lab
