#include "rooftile/lab/inspect/kernel_name.h"

#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace rooftile::lab {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

// In this order: a type of the simulator before its namespace.
constexpr auto kPortable = std::to_array<Replacement>({
    {"(anonymous namespace)::", ""},
    {"rooftile::simt::detail::Real16<rooftile::Float16>", "__half"},
    {"rooftile::simt::detail::Real16<rooftile::BFloat16>", "__nv_bfloat16"},
    {"rooftile::simt::", ""},
    {"rooftile::cuda::", ""},
    {"rooftile::sim::", ""},
    {"rooftile::", ""},
    {" >", ">"},
});

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// Of a rung whose dtypes are compiled one at a time: rooftile::cuda::unit_f16:: says no more than its types do.
void erase_units(std::string& name) {
  constexpr std::string_view kUnit = "rooftile::cuda::unit_";
  for (std::size_t at = 0; (at = name.find(kUnit, at)) != std::string::npos;) {
    const std::size_t unit = at + kUnit.size();
    const std::size_t end = name.find("::", unit);
    if (end == std::string::npos) return;
    at = unit - std::string_view("unit_").size();
    name.erase(at, end + 2 - at);
  }
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return name != nullptr ? name.get() : symbol;
}

// Where the parameter list starts: the first ( outside of template arguments.
std::size_t parameters_start(const std::string& name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return i;
  }
  return name.size();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string portable_kernel_name(const std::string& symbol) {
  std::string name = demangled(symbol);
  erase_units(name);
  for (const auto& [what, with] : kPortable) replace_all(name, what, with);
  // The return type, which templates alone carry.
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

std::string short_kernel_name(const std::string& portable_name) {
  std::string name = portable_name.substr(0, parameters_start(portable_name));
  for (std::size_t at = 0; (at = name.find("::", at)) != std::string::npos;) {
    std::size_t start = at;
    while (start > 0 && is_word(name[start - 1])) --start;
    name.erase(start, at + 2 - start);
    at = start;
  }
  return name;
}

}  // namespace rooftile::lab
