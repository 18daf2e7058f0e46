#include "rooftile/lab/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace rooftile::lab {
namespace {

constexpr int kDefaultWidth = 120;
constexpr int kNarrowest = 60;

int tty_width(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

bool stdout_has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

int stdout_width() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const int width = std::atoi(columns); width > 0) return std::max(width, kNarrowest);
  }
  const int width = tty_width(STDOUT_FILENO);
  return width > 0 ? std::max(width, kNarrowest) : kDefaultWidth;
}

Progress::Progress() : enabled_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { clear(); }

void Progress::show(std::string_view text) {
  if (!enabled_) return;
  const int width = std::max(tty_width(STDERR_FILENO), kNarrowest);
  const int length = std::min(static_cast<int>(text.size()), width - 1);
  std::fprintf(stderr, "\r%.*s\033[K", length, text.data());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rooftile::lab
