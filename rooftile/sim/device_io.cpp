#include "rooftile/sim/device_io.h"

#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>

namespace rooftile::simt {

int printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (length > 0) {
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, again);
    std::fwrite(text.data(), 1, static_cast<std::size_t>(length), stderr);  // one call: stdio locks per call
  }
  va_end(again);
  return length;
}

void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function) {
  if (detail::current_thread == nullptr) ::__assert_fail(assertion, file, line, function);
  const std::string_view path = file;
  const std::size_t slash = path.rfind('/');
  detail::report_failure(std::string("assertion `") + assertion + "' failed at " +
                         std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
                         std::to_string(line));
  detail::abandon_thread();
}

}  // namespace rooftile::simt
