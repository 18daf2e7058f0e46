// Misaligned accesses: what -fsanitize=alignment finds in checked kernels, copies of vectors in plain ones, and the
// wrappers of device/.
#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/type_mismatch.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::detail {
namespace {

// What is on the stack of an abandoned thread is never destroyed: the text is gone when this returns.
void fail_at(const char* file, unsigned line, const std::string& what) {
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->misaligned(file, line, what);
  const std::string_view path = file;
  const std::size_t slash = path.rfind('/');
  report_failure("misaligned access: " + what + " at " +
                 std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
                 std::to_string(line));
}

}  // namespace

void fail_misaligned(const char* what, const void* address, std::size_t bytes, std::source_location where) {
  fail_at(where.file_name(), where.line(),
          std::string(what) + " of " + std::to_string(bytes) + " bytes at an address that is " +
              std::to_string(reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)) +
              " bytes past a multiple of " + std::to_string(bytes));
  abandon_thread();
}

void misaligned_copy(const void* destination, const void* source, std::size_t bytes) {
  if (current_thread == nullptr) return;
  const auto off = [bytes](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) & (bytes - 1);
  };
  report_failure("misaligned access: " + std::to_string(bytes) + " bytes at once " +
                 (off(source) != 0 ? "from an address that is " + std::to_string(off(source))
                                   : "to an address that is " + std::to_string(off(destination))) +
                 " bytes past a multiple of " + std::to_string(bytes) +
                 "; the checked build names the line (`rooftile sim`)");
  abandon_thread();
}

}  // namespace rooftile::simt::detail

// The name that tools/compile_simulated gives to UBSan's handler in kernels. On the host, where nothing is simulated,
// the access goes on.
extern "C" void rooftile_misaligned_access(const rooftile::simt::detail::TypeMismatch* data,
                                           std::uintptr_t address) {
  using namespace rooftile::simt::detail;
  if (current_thread == nullptr) return;
  const std::size_t alignment = std::size_t{1} << data->log_alignment;
  if ((address & (alignment - 1)) == 0) return;
  fail_at(data->file, data->line,
          "what must lie at a multiple of " + std::to_string(alignment) + " bytes lies " +
              std::to_string(address & (alignment - 1)) + " bytes past one");
  abandon_thread();
}
