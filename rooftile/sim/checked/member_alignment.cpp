#include "rooftile/sim/checked/member_alignment.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "rooftile/sim/checked/source_lines.h"
#include "rooftile/sim/program_symbols.h"
#include "rooftile/sim/type_mismatch.h"

namespace rooftile::simt::checked {
namespace {

constexpr std::string_view kLabel = ".Lubsan_data";  // tools/compile_simulated keeps them
constexpr unsigned char kMemberAccess = 3;
constexpr unsigned kWidest = 16;

// The data of -fsanitize=bounds have labels of the same kind, and a pointer where the alignment is.
bool is_of_alignment(std::uintptr_t place) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(place) + offsetof(detail::TypeMismatch, log_alignment),
              sizeof word);
  return word < 0x10000;
}

}  // namespace

MemberAlignment::MemberAlignment() {
  detail::for_each_kernel_symbol("checked", [this](const detail::ProgramSymbol& symbol) {
    if (!symbol.is_data || !std::string_view(symbol.name).starts_with(kLabel)) return;
    if (!is_of_alignment(symbol.place)) return;
    const auto& data = *reinterpret_cast<const detail::TypeMismatch*>(symbol.place);
    if (data.kind != kMemberAccess || data.file == nullptr) return;
    unsigned& alignment = alignments_[{project_path(data.file), data.line}];
    alignment = std::max(alignment, std::min(1u << std::min<unsigned>(data.log_alignment, 30), kWidest));
  });
}

const MemberAlignment& MemberAlignment::of_program() {
  static const MemberAlignment alignment;
  return alignment;
}

unsigned MemberAlignment::of_line(const SourceLine& line) const {
  const auto found = alignments_.find(line);
  return found == alignments_.end() ? 1 : found->second;
}

}  // namespace rooftile::simt::checked
