// Device printf, assert and trap.
#pragma once

#include <source_location>

#include "rooftile/sim/thread.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

// Writes to stderr, each call whole: stdout is the program's own output. Returns the number of characters.
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// What the standard assert calls where it is found by unqualified lookup from a kernel: the assertion ends
// the launch and not the program. On the host it is the C library's.
[[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function);

[[noreturn]] inline void __trap(std::source_location where = std::source_location::current()) {
  detail::report_failure("__trap()", where);
  detail::abandon_thread();
}

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
