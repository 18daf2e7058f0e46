#include "rooftile/sim/matrix_operand.h"

#include <algorithm>
#include <string>

#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {
namespace {

constexpr std::uint32_t kDistanceLimit = 1u << 18;

// Hardware looks at address bits, so that the start may lie anywhere in the pattern.
const std::byte* swizzled_address(TileSwizzle swizzle, const std::byte* address) {
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address));
  const std::uint32_t moved = swizzled(swizzle, low);
  return address + (static_cast<std::ptrdiff_t>(moved) - static_cast<std::ptrdiff_t>(low));
}

// Before the swizzle: of 8 elements from (row, k) on.
std::size_t offset_of(const MatrixOperand& of, unsigned row, unsigned k) {
  constexpr unsigned kElements = 8;  // of a core's row
  constexpr std::size_t kRow = kCoreRowBytes;
  const std::size_t span = static_cast<std::size_t>(of.swizzle);
  const std::size_t leading = of.leading_bytes;
  const std::size_t stride = of.stride_bytes;
  if (!of.mn_major) {
    if (span == 0) return row / 8 * stride + row % 8 * kRow + k / kElements * leading;
    return row / 8 * stride + row % 8 * span + k / kElements * kRow;
  }
  const std::size_t chunk = row / kElements;
  if (span == 0) return chunk * stride + k % 8 * kRow + k / 8 * leading;
  const std::size_t of_span = span / kRow;
  return chunk / of_span * leading + chunk % of_span * kRow + k % 8 * span + k / 8 * stride;
}

}  // namespace

std::vector<CoreRow> core_rows(const MatrixOperand& operand, unsigned first, unsigned rows) {
  std::vector<CoreRow> all;
  all.reserve(std::size_t{rows} * kOperandDepth / 8);
  for (unsigned core = first; core < first + rows; core += kCoreRows) {
    for (unsigned k = 0; k < kOperandDepth; k += 8) {
      for (unsigned i = 0; i < kCoreRows; ++i) {
        const unsigned at_row = operand.mn_major ? core : core + i;
        const unsigned at_k = operand.mn_major ? k + i : k;
        all.push_back({swizzled_address(operand.swizzle, operand.start + offset_of(operand, at_row, at_k)),
                       at_row, at_k});
      }
    }
  }
  return all;
}

void check_operand_start(const void* s_tile, TileSwizzle swizzle, std::uint32_t leading_bytes,
                         std::uint32_t stride_bytes, std::source_location where) {
  const std::uint32_t alignment = swizzle == TileSwizzle::none ? kCoreRowBytes : tile_alignment(swizzle);
  check_shared("a matrix descriptor", s_tile, kCoreRowBytes, alignment, where);
  for (const std::uint32_t bytes : {leading_bytes, stride_bytes}) {
    if (bytes % kCoreRowBytes == 0 && bytes < kDistanceLimit) continue;
    report_failure("a matrix descriptor: distances are multiples of 16 bytes and less than 2^18, not " +
                       std::to_string(bytes),
                   where);
    abandon_thread();
  }
}

void check_operand(const char* name, const MatrixOperand& operand, unsigned rows,
                   std::source_location where) {
  const std::byte* least = operand.start;
  const std::byte* most = operand.start;
  for (const CoreRow& row : core_rows(operand, 0, rows)) {
    least = std::min(least, row.address);
    most = std::max(most, row.address);
  }
  check_shared(name, least, static_cast<std::size_t>(most - least) + kCoreRowBytes, kCoreRowBytes, where);
}

}  // namespace rooftile::simt::detail
