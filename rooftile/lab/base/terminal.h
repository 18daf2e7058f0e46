// What the terminal can take: colour, width, progress.
#pragma once

#include <string>
#include <string_view>

namespace rooftile::lab {

// A TTY, without NO_COLOR and not TERM=dumb.
[[nodiscard]] bool stdout_has_colour();
// COLUMNS, the TTY's width, or 120.
[[nodiscard]] int stdout_width();

// One line on stderr that overwrites itself; silent where stderr is no TTY.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void show(std::string_view text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace rooftile::lab
