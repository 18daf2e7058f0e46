#include "rooftile/sim/device_io.h"

#include <cassert>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>

#include "rooftile/sim/alignment.h"

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
    std::fwrite(text.data(), 1, static_cast<std::size_t>(length), stdout);  // one call: stdio locks per call
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

namespace detail {

void misaligned_access(const void* destination, const void* source, std::size_t bytes) {
  if (current_thread == nullptr) return;
  const auto off = [bytes](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) & (bytes - 1);
  };
  report_failure("misaligned access: " + std::to_string(bytes) + " bytes at once " +
                 (off(source) != 0 ? "from an address that is " + std::to_string(off(source))
                                   : "to an address that is " + std::to_string(off(destination))) +
                 " bytes past a multiple of " + std::to_string(bytes));
  abandon_thread();
}

void fail_misaligned(const char* what, const void* address, std::size_t bytes, std::source_location where) {
  report_failure(std::string("misaligned access: ") + what + " of " + std::to_string(bytes) +
                     " bytes at an address that is " +
                     std::to_string(reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)) +
                     " bytes past a multiple of " + std::to_string(bytes),
                 where);
  abandon_thread();
}

}  // namespace detail
}  // namespace rooftile::simt
