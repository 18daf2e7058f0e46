// CPU rung threaded: parts of rows, summed up by all cores and then scanned by all cores.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <array>

#include "rooftile/core/integers.h"
#include "rooftile/ops/scan/scan_cpu.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

// Parts of a row: their totals are on the caller's stack.
constexpr std::int64_t kMostParts = 512;
constexpr std::int64_t kPart = 1 << 14;  // elements that are worth a task

template <class Body>
void for_all(std::int64_t count, std::int64_t grain, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
                    [&](const auto& range) {
                      for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
                    });
}

// What follows from the length alone: the order of additions does not depend on threads.
template <class Scan, class T>
void scan_in_parts(const T* in, T* out, std::int64_t length, bool exclusive, typename Scan::Acc initial) {
  const std::int64_t part = std::max(kPart, ceil_div(length, kMostParts));
  const std::int64_t parts = ceil_div(length, part);
  std::array<typename Scan::Acc, kMostParts> in_front;
  const auto end = [&](std::int64_t p) { return std::min((p + 1) * part, length); };
  for_all(parts - 1, 1, [&](std::int64_t p) {
    auto total = widened(in[p * part]);
    for (std::int64_t i = p * part + 1; i < end(p); ++i) total = Scan::combine(total, widened(in[i]));
    in_front[static_cast<std::size_t>(p + 1)] = total;
  });
  in_front[0] = initial;
  for (std::size_t p = 1; p < static_cast<std::size_t>(parts); ++p)
    in_front[p] = Scan::combine(in_front[p - 1], in_front[p]);
  for_all(parts, 1, [&](std::int64_t p) {
    Scan::run(in + p * part, out + p * part, end(p) - p * part, exclusive,
              in_front[static_cast<std::size_t>(p)]);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan, class T>() -> Status {
    const scan_plan::Rows rows = scan_plan::rows_of(call.args);
    const auto* in = static_cast<const T*>(call.args.in.data);
    auto* out = static_cast<T*>(call.args.out.data);
    const auto initial = Scan::initial(call.args);
    if (rows.count == 1 && rows.length > kPart) {
      scan_in_parts<Scan>(in, out, rows.length, call.args.exclusive, initial);
      return {};
    }
    for_all(rows.count, std::max<std::int64_t>(1, kPart / std::max<std::int64_t>(1, rows.length)),
            [&](std::int64_t row) {
              const std::int64_t at = row * rows.length;
              Scan::run(in + at, out + at, rows.length, call.args.exclusive, initial);
            });
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
