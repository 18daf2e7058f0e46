#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile::scan_plan {
namespace {

// Elements between a 16-byte boundary and the first of a row: of all rows the most. Of memory that is not there yet nothing
// is known.
std::int64_t most_skew(const ScanArgs& args, const Rows& rows) {
  const auto size = static_cast<std::int64_t>(size_of(args.in.dtype));
  const bool all_alike = rows.count <= 1 || rows.length * size % kVectorBytes == 0;
  if (args.in.data == nullptr || !all_alike) return kVectorBytes / size - 1;
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(args.in.data) % kVectorBytes) / size;
}

Cut cut_skewed(const Rows& rows, std::int64_t element, std::int64_t tile_bytes, std::int64_t skew) {
  Cut cut{.rows = rows};
  cut.tiles = larger(1, ceil_div(rows.length + skew, tile_bytes / element));
  cut.tree = tree_of(cut.tiles);
  return cut;
}

}  // namespace

Cut cut_rows(const Rows& rows, std::size_t element, std::int64_t tile_bytes) {
  const auto size = static_cast<std::int64_t>(element);
  return cut_skewed(rows, size, tile_bytes, kVectorBytes / size - 1);
}

Cut cut_tiles(const ScanArgs& args, std::int64_t tile_bytes) {
  const Rows rows = rows_of(args);
  return cut_skewed(rows, static_cast<std::int64_t>(size_of(args.in.dtype)), tile_bytes,
                    most_skew(args, rows));
}

}  // namespace rooftile::scan_plan
