// The symbols of the running program that belong to simulated kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rooftile::simt::detail {

struct ProgramSymbol {
  const char* name = "";
  std::uintptr_t place =
      0;  // address; of a thread-local variable its offset in the program's thread-local block
  std::size_t bytes = 0;
  bool is_thread_local = false;
  bool is_data = false;  // writable
  bool is_code = false;
};

// Of the kernels of a target, "sim" or "checked". Nothing in a stripped program.
void for_each_kernel_symbol(std::string_view target, const std::function<void(const ProgramSymbol&)>& body);

// "kernel(float*)::s_tile"; what is not mangled as it stands.
[[nodiscard]] std::string demangled(const char* symbol);

struct ThreadLocalBlock {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};
// The program's, of the calling OS thread.
[[nodiscard]] ThreadLocalBlock thread_local_block();

}  // namespace rooftile::simt::detail
