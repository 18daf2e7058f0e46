#include "rooftile/sim/checked/kernel_variables.h"

#include <algorithm>
#include <string_view>

#include "rooftile/sim/program_symbols.h"

// The program's __constant__ variables; null where there are none.
extern "C" {
extern const char __start_rooftile_constant __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)
extern const char __stop_rooftile_constant __attribute__((weak));   // NOLINT(bugprone-reserved-identifier)
}

namespace rooftile::simt::checked {
namespace {

// What the compiler adds: guards of variables that are constructed, tables of classes, labels.
constexpr std::string_view kCompilersOwn[] = {"_ZGV", "_ZTV", "_ZTI", "_ZTS", "_ZTT", "__tls_guard", ".L"};

bool is_compilers_own(std::string_view symbol) {
  return std::any_of(std::begin(kCompilersOwn), std::end(kCompilersOwn),
                     [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

KernelVariable variable_of(const detail::ProgramSymbol& symbol) {
  KernelVariable variable{symbol.place, symbol.bytes, detail::demangled(symbol.name)};
  if (const std::size_t colon = variable.name.rfind("::"); colon != std::string::npos) {
    variable.name.erase(0, colon + 2);
  }
  // "s_tile.0" of a function with C linkage
  variable.name.resize(std::min(variable.name.size(), variable.name.find('.')));
  return variable;
}

void sort_by_place(std::vector<KernelVariable>& variables) {
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
}

}  // namespace

AddressRange constant_memory() {
  const auto first = reinterpret_cast<std::uintptr_t>(&__start_rooftile_constant);
  return {first, reinterpret_cast<std::uintptr_t>(&__stop_rooftile_constant) - first};
}

KernelVariables::KernelVariables() : block_bytes_(detail::thread_local_block().bytes) {
  detail::for_each_kernel_symbol("checked", [this](const detail::ProgramSymbol& symbol) {
    if (symbol.bytes == 0 || is_compilers_own(symbol.name)) return;
    if (symbol.is_thread_local) shared_.push_back(variable_of(symbol));
    if (symbol.is_data && !constant_memory().contains(symbol.place)) device_.push_back(variable_of(symbol));
  });
  sort_by_place(shared_);
  sort_by_place(device_);
  index_.resize(block_bytes_ / kGranule + 1);
  for (std::size_t v = shared_.size(); v-- > 0;) {
    const KernelVariable& variable = shared_[v];
    for (std::size_t at = variable.place / kGranule;
         at * kGranule < variable.place + variable.bytes && at < index_.size(); ++at) {
      index_[at] = static_cast<std::uint16_t>(v + 1);
    }
  }
}

const KernelVariables& KernelVariables::of_program() {
  static const KernelVariables variables;
  return variables;
}

std::uintptr_t KernelVariables::block_address() { return detail::thread_local_block().address; }

const KernelVariable* KernelVariables::find(std::size_t offset) const {
  for (std::size_t v = index_[offset / kGranule] - 1u; v < shared_.size(); ++v) {
    if (shared_[v].place > offset) break;
    if (offset < shared_[v].place + shared_[v].bytes) return &shared_[v];
  }
  return nullptr;
}

}  // namespace rooftile::simt::checked
