#include "rooftile/lab/base/text_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rooftile::lab {
namespace {

constexpr int kGap = 2;  // spaces between columns
// The last column is not wrapped below this, even past the terminal's edge.
constexpr int kNarrowestLast = 32;

std::string padded(const Cell& cell, int width, Align align, bool colour) {
  const std::string fill(static_cast<std::size_t>(std::max(0, width - display_width(cell.text))), ' ');
  const std::string text = paint(cell.text, cell.colour, colour);
  return align == Align::right ? fill + text : text + fill;
}

void strip_trailing_spaces(std::string& line) {
  const std::size_t last = line.find_last_not_of(' ');
  line.erase(last == std::string::npos ? 0 : last + 1);
}

}  // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;  // not a continuation byte
  }));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::exchange(line, std::string()));
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::none || text.empty()) return std::string(text);
  const char* code = "0";
  switch (colour) {
    case Colour::none:
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::red:
      code = "31";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::dim:
      code = "2";
      break;
    case Colour::bold:
      code = "1";
      break;
  }
  return std::string("\033[") + code + "m" + std::string(text) + "\033[0m";
}

void TextTable::add_column(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
}

void TextTable::add_row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), false});
}

void TextTable::add_line(std::string text) { rows_.push_back({{Cell{std::move(text)}}, true}); }

std::string TextTable::render(int width, bool colour) const {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int widest = display_width(columns_[c].header);
    for (const Row& row : rows_) {
      if (!row.is_line) widest = std::max(widest, display_width(row.cells[c].text));
    }
    widths.push_back(widest);
  }
  int before_last = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before_last += widths[c] + kGap;
  if (!widths.empty()) widths.back() = std::min(widths.back(), std::max(kNarrowestLast, width - before_last));

  std::string out;
  const auto put_row = [&](const std::vector<Cell>& cells) {
    const std::vector<std::string> last = wrap(cells.back().text, widths.back());
    for (std::size_t l = 0; l < last.size(); ++l) {
      std::string line;
      for (std::size_t c = 0; c + 1 < cells.size(); ++c) {
        const Cell blank;
        line += padded(l == 0 ? cells[c] : blank, widths[c], columns_[c].align, colour);
        line.append(kGap, ' ');
      }
      line += padded({last[l], cells.back().colour}, widths.back(), columns_.back().align, colour);
      strip_trailing_spaces(line);
      out += line + '\n';
    }
  };

  std::vector<Cell> headers;
  for (const Column& column : columns_) headers.push_back({column.header, Colour::bold});
  if (!headers.empty()) put_row(headers);
  for (const Row& row : rows_) {
    if (row.is_line) {
      out += row.cells.front().text + '\n';
    } else {
      put_row(row.cells);
    }
  }
  return out;
}

}  // namespace rooftile::lab
