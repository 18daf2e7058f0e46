// CPU rung threaded: parts are counted by all cores, and written by all cores.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <array>

#include "rooftile/core/integers.h"
#include "rooftile/ops/select/select_cpu.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {
namespace {

// Their counts are on the caller's stack.
constexpr std::int64_t kMostParts = 512;
constexpr std::int64_t kPart = 1 << 14;  // elements that are worth a task

template <class Body>
void for_all(std::int64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_conditions(call.args, [&](const auto& condition, const auto* in, auto* out) -> Status {
    const std::int64_t n = call.args.in.numel();
    const std::int64_t part = larger(kPart, ceil_div(n, kMostParts));
    const std::int64_t parts = ceil_div(n, part);
    std::array<std::int64_t, kMostParts + 1> in_front{};
    for_all(parts, [&](std::int64_t p) {
      std::int64_t count = 0;
      for (std::int64_t i = p * part; i < smaller((p + 1) * part, n); ++i) count += condition(in, i) ? 1 : 0;
      in_front[static_cast<std::size_t>(p + 1)] = count;
    });
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts); ++p) in_front[p + 1] += in_front[p];
    for_all(parts, [&](std::int64_t p) {
      write(call.args, condition, in, out, p * part, smaller((p + 1) * part, n),
            in_front[static_cast<std::size_t>(p)]);
    });
    *static_cast<std::int64_t*>(call.args.count.data) = in_front[static_cast<std::size_t>(parts)];
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
