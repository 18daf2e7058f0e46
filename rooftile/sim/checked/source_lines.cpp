#include "rooftile/sim/checked/source_lines.h"

#include <backtrace.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "rooftile/sim/program_symbols.h"

namespace rooftile::simt::checked {
namespace {

// An unreadable executable or missing debug information shows as unknown lines.
void ignore_error(void*, const char*, int) {}

bool is_wrapper(std::string_view file) {
  return file.starts_with("rooftile/sim/") || file.starts_with("rooftile/device/") ||
         file.starts_with("/usr/");
}

// "rooftile::checked::(anonymous namespace)::copy_kernel<float>(float*)" -> "copy_kernel"
std::string base_name(std::string name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  for (std::size_t at = 0; (at = name.find(kAnonymous)) != std::string::npos;) {
    name.replace(at, kAnonymous.size(), "_");
  }
  name.resize(std::min(name.size(), name.find_first_of("<(")));
  const std::size_t start = name.find_last_of(": ");
  return start == std::string::npos ? name : name.substr(start + 1);
}

// A name as the program has it, mangled or not.
std::string plain_name(const std::string& symbol) { return base_name(detail::demangled(symbol.c_str())); }

// What copies a struct though its author wrote no such function stands at the line that names the struct.
bool is_implicit_copy(const SourceLine& line, const char* function) {
  if (function == nullptr) return false;
  const std::string text = source_text(line);
  std::string_view head = std::string_view(text).substr(0, std::min(text.find('{'), text.find(" :")));
  const bool is_typedef = head.starts_with("typedef ");
  const bool is_prefixed = is_typedef || head.starts_with("template");
  const auto has_key = [&](std::string_view key) {
    return is_prefixed ? head.find(key) != std::string_view::npos : head.starts_with(key);
  };
  if (!has_key("struct ") && !has_key("class ") && !has_key("union ")) return false;
  head = head.substr(0, head.find_last_not_of(' ') + 1);
  const std::string name = plain_name(function);
  return is_typedef || name == "operator=" || head.ends_with(" " + name);
}

struct Search {
  SourceLine innermost;
  SourceLine author;
};

int take_frame(void* data, std::uintptr_t, const char* file, int line, const char* function) {
  auto& search = *static_cast<Search*>(data);
  if (file == nullptr || line <= 0) return 0;
  const SourceLine here{project_path(file), static_cast<unsigned>(line)};
  if (search.innermost.file.empty()) search.innermost = here;
  if (is_wrapper(here.file) || is_implicit_copy(here, function)) return 0;
  search.author = here;
  return 1;  // enough
}

void take_symbol(void* data, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
  if (name != nullptr) *static_cast<std::string*>(data) = name;
}

void take_start(void* data, std::uintptr_t, const char*, std::uintptr_t start, std::uintptr_t) {
  if (start != 0) *static_cast<std::uintptr_t*>(data) = start;
}

// One state for the life of the program: libbacktrace frees none. Null where the program cannot be read.
backtrace_state* program_state() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, ignore_error, nullptr);
  return state;
}

}  // namespace

std::string symbol_of(const void* code) {
  std::string symbol;
  if (program_state() != nullptr) {
    backtrace_syminfo(program_state(), reinterpret_cast<std::uintptr_t>(code), take_symbol, ignore_error,
                      &symbol);
  }
  return symbol;
}

std::string project_path(std::string_view file) {
  constexpr std::string_view kRoot = ROOFTILE_SOURCE_DIR "/";
  constexpr std::string_view kUp = "../";  // ccache makes paths relative to the build folder
  if (file.starts_with(kRoot)) file.remove_prefix(kRoot.size());
  while (file.starts_with(kUp)) file.remove_prefix(kUp.size());
  return std::string(file);
}

std::string source_text(const SourceLine& line) {
  std::ifstream file(line.file.starts_with('/') ? line.file : ROOFTILE_SOURCE_DIR "/" + line.file);
  std::string text;
  for (unsigned i = 0; i < line.line && std::getline(file, text); ++i) {
  }
  if (!file) return "";
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

SourceLines::SourceLines() : state_(program_state()) {}

const SourceLines::Lines& SourceLines::find(const void* return_address) {
  const auto [place, is_new] = lines_.try_emplace(return_address);
  if (is_new && state_ != nullptr) {
    auto* const state = static_cast<backtrace_state*>(state_);
    // The call itself stands before its return address. What the compiler made without a line belongs to the
    // code before it.
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(return_address) - 1;
    std::uintptr_t function = call;
    backtrace_syminfo(state, call, take_start, ignore_error, &function);
    Search search;
    for (std::uintptr_t at = call; search.innermost.file.empty() && at >= function; --at) {
      backtrace_pcinfo(state, at, take_frame, ignore_error, &search);
    }
    place->second = {search.author.file.empty() ? search.innermost : search.author, search.innermost};
  }
  return place->second;
}

std::string SourceLines::kernel_name(const void* code) const {
  const std::string symbol = symbol_of(code);
  if (symbol.empty()) return "a kernel";
  return plain_name(symbol);
}

}  // namespace rooftile::simt::checked
