#include "rooftile/ops/gemm/gemm_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "rooftile/core/operator.h"
#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/gemm_tensor.h"

namespace rooftile::gemm_plan {
namespace {

// What the model knows of a size of tiles, in cycles of a multiprocessor of an H200 at 1980 MHz, for which a step of a large or a
// sliced tile is 1024 cycles of multiply-adds and one of a tiny or a narrow tile 256. Measured.
struct Rates {
  double alone;  // a step of a block that has its multiprocessor to itself
  double busy;   // of a block's step where as many blocks as fit share the multiprocessor
  double start;  // of a block: its first steps' way, its results
  double crowd;  // how much longer its start takes where blocks that start with it share the multiprocessor
  // Where operands come element by element: a step by this factor longer, a start in a crowd by so much.
  double single;
  double single_crowd;
};
Rates rates_of(TileSize size) {
  switch (size) {
    case TileSize::large:
      return {.alone = 1440, .busy = 1267, .start = 6000, .crowd = 0, .single = 1.08, .single_crowd = 8000};
    case TileSize::sliced:
      return {.alone = 1550, .busy = 1360, .start = 6000, .crowd = 0, .single = 1.08, .single_crowd = 8000};
    case TileSize::narrow:
      return {.alone = 707, .busy = 615, .start = 4500, .crowd = 0, .single = 1.3, .single_crowd = 2000};
    default:
      return {.alone = 1050, .busy = 420, .start = 4000, .crowd = 6000, .single = 1.1, .single_crowd = 12000};
  }
}
constexpr double kCyclesPerMicrosecond = 1980;
constexpr double kLaunch = 4000;         // cycles, of a kernel
constexpr double kBytesPerCycle = 2100;  // of the device's memory

bool is_single(const Problem& problem, std::size_t element) {
  return copy_ways(problem, element).a == CopyWay::single;
}

Rates rates_for(const Problem& problem, std::size_t element, TileSize size) {
  Rates rates = rates_of(size);
  if (is_single(problem, element)) {
    rates.alone *= rates.single;
    rates.busy *= rates.single;
    rates.crowd = rates.single_crowd;
  }
  return rates;
}

// A second kernel, whose code comes from memory where the caches are cold, and the parts' way to L2 and back.
double combine_cycles(const TileShape& tile, std::size_t element, std::int64_t parts) {
  constexpr double kPartBytesPerCycle = 1200;
  constexpr double kCode = 2500;
  const double bytes = static_cast<double>(tile.rows()) * tile.columns() * static_cast<double>(element);
  return kLaunch + kCode + 2 * bytes * static_cast<double>(parts) / kPartBytesPerCycle;
}

// Of `blocks` equal blocks of so many steps: a multiprocessor has as many of them at once as it holds.
double cycles_of(const Rates& rates, const TileShape& tile, std::int64_t blocks, double steps,
                 const DeviceProperties& device) {
  if (blocks == 0) return 0;
  const double on_one = std::ceil(static_cast<double>(blocks) / device.multiprocessors);
  const double full = std::floor(on_one / tile.blocks);
  const double rest = on_one - full * tile.blocks;
  const auto round = [&](double resident) {
    const double start = rates.start + (resident > 1 ? rates.crowd : 0);
    return resident == 0 ? 0.0 : start + steps * std::max(rates.alone, resident * rates.busy);
  };
  return full * round(tile.blocks) + round(rest);
}

// Of a cluster: its two barriers, and the sums' way. Clusters of more than two narrow tiles wait for one another where their blocks have
// to share multiprocessors: from nine tenths of those on, as clusters of 8 and 16 leave some of each GPC idle. Measured.
double meeting_cycles(TileSize size, std::int64_t blocks, std::int64_t parts,
                      const DeviceProperties& device) {
  if (size == TileSize::sliced) return parts == 2 ? 6000 : 4500;
  if (parts == 1) return 0;
  const double others =
      parts == 2 ? 0 : std::ceil(static_cast<double>(blocks) / (0.9 * device.multiprocessors)) - 1;
  return 600 + static_cast<double>(parts) * (50 + 200 * others);
}

double traffic_of(const Problem& p, std::size_t element) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  return static_cast<double>(p.batches) * (m * k + k * n + m * n) * static_cast<double>(element);
}

Schedule tiles_of(const Problem& problem, std::size_t element, TileSize size) {
  const TileShape tile = tile_shape(element, size);
  return {.size = size,
          .tile_rows = ceil_div(problem.m, tile.rows()),
          .tile_columns = ceil_div(problem.n, tile.columns()),
          .steps = larger(1, ceil_div(problem.k, tile.depth()))};
}
std::int64_t count_of(const Problem& problem, const Schedule& schedule) {
  return problem.batches * schedule.tile_rows * schedule.tile_columns;
}

// The first `split` tiles' steps divided among `units` blocks, every other tile a block's own.
Schedule cut(const Problem& problem, std::size_t element, const DeviceProperties& device, TileSize size,
             std::int64_t split, std::int64_t units) {
  Schedule schedule = tiles_of(problem, element, size);
  const TileShape tile = tile_shape(element, size);
  Rates rates = rates_for(problem, element, size);
  const std::int64_t tiles = count_of(problem, schedule);
  schedule.split_tiles = split;
  schedule.units = split == 0 ? 0 : units;
  schedule.whole_tiles = tiles - split;
  double cycles = cycles_of(rates, tile, schedule.whole_tiles, static_cast<double>(schedule.steps), device);
  if (split > 0) {
    const double steps = static_cast<double>(split * schedule.steps) / static_cast<double>(units);
    // Units that do not end with a tile have parts of two at least, and start as often.
    const bool ends_with_tiles = units % split == 0 && schedule.steps % (units / split) == 0;
    const std::int64_t parts = ends_with_tiles ? units : units + smaller(units, split);
    if (!ends_with_tiles) rates.start *= 1 + static_cast<double>(split) / static_cast<double>(units);
    cycles += cycles_of(rates, tile, units, steps, device) + combine_cycles(tile, element, parts);
  }
  cycles = std::max(cycles, traffic_of(problem, element) / kBytesPerCycle) + kLaunch;
  schedule.microseconds = cycles / kCyclesPerMicrosecond;
  return schedule;
}

// A unit has at least a step, and this many times 8 lines, or its start costs more than it computes.
constexpr std::int64_t kLeastSteps = 2;

// offer(schedule) of every way in which tiles of a size are considered.
template <class Offer>
void consider(const Problem& problem, std::size_t element, const DeviceProperties& device, TileSize size,
              Offer offer) {
  const Schedule tiles = tiles_of(problem, element, size);
  const std::int64_t count = count_of(problem, tiles);
  const TileShape shape = tile_shape(element, size);
  offer(cut(problem, element, device, size, 0, 0));
  // All of them, or what whole rounds of the device leave, or that and a round more; by as many units as the device holds, or
  // a half, a quarter ... of them.
  const std::int64_t resident = std::int64_t{device.multiprocessors} * shape.blocks;
  std::int64_t before = 0;
  for (const std::int64_t split : {smaller(count, resident), count % resident, count % resident + resident}) {
    if (split == 0 || split > count || split == before || tiles.steps > kMostSteps / split) continue;
    before = split;
    const std::int64_t parts = smaller(tiles.steps, larger(1, tiles.steps * shape.slices / kLeastSteps));
    const std::int64_t most = smaller(resident, split * parts);
    for (std::int64_t units = most; units > 0 && units >= most / 8; units /= 2)
      offer(cut(problem, element, device, size, split, units));
  }
}

const char* name_of(TileSize size) {
  switch (size) {
    case TileSize::large:
      return "large";
    case TileSize::sliced:
      return "sliced";
    case TileSize::narrow:
      return "narrow";
    default:
      return "tiny";
  }
}
const char* name_of(CopyWay way) {
  return way == CopyWay::along ? "along its lines" : way == CopyWay::turned ? "turned" : "element by element";
}

std::string text_of(const Schedule& s) {
  std::array<char, 200> text;
  if (s.units == 0) {
    (void)std::snprintf(text.data(), text.size(), "every tile a block's own: %.1f us", s.microseconds);
  } else {
    (void)std::snprintf(text.data(), text.size(),
                        "%lld tiles divided among %lld blocks, %lld a block's own: %.1f us",
                        static_cast<long long>(s.split_tiles), static_cast<long long>(s.units),
                        static_cast<long long>(s.whole_tiles), s.microseconds);
  }
  return text.data();
}

}  // namespace

Schedule whole_tiles(const Problem& problem, std::size_t element, TileSize size) {
  Schedule schedule = tiles_of(problem, element, size);
  schedule.whole_tiles = count_of(problem, schedule);
  return schedule;
}

Schedule split_tiles(const Problem& problem, std::size_t element, const DeviceProperties& device) {
  const Schedule tiles = tiles_of(problem, element, TileSize::large);
  const std::int64_t count = count_of(problem, tiles);
  const std::int64_t resident =
      std::int64_t{device.multiprocessors} * tile_shape(element, TileSize::large).blocks;
  const std::int64_t parts = clamped(resident / larger(count, 1), 1, larger(1, tiles.steps / kLeastSteps));
  if (tiles.steps > kMostSteps / larger(count, 1)) return whole_tiles(problem, element, TileSize::large);
  return cut(problem, element, device, TileSize::large, count, count * parts);
}

Schedule fastest(const Problem& problem, std::size_t element, const DeviceProperties& device) {
  Schedule best;
  best.microseconds = -1;
  for (const TileSize size : kTileSizes) {
    if (!has_tiles(element, size)) continue;
    consider(problem, element, device, size, [&](const Schedule& schedule) {
      if (best.microseconds < 0 || schedule.microseconds < best.microseconds) best = schedule;
    });
  }
  return best;
}

Schedule clustered(const Problem& problem, const DeviceProperties& device) {
  constexpr std::int64_t kMostParts = 16;
  Schedule best;
  best.microseconds = -1;
  for (const TileSize size : {TileSize::sliced, TileSize::narrow}) {
    const TileShape tile = tile_shape(sizeof(float), size);
    const Schedule tiles = tiles_of(problem, sizeof(float), size);
    const std::int64_t count = count_of(problem, tiles);
    const Rates rates = rates_for(problem, sizeof(float), size);
    for (std::int64_t parts = 1; parts <= smaller(kMostParts, tiles.steps); parts *= 2) {
      const int on_one = parts == 2 || size == TileSize::narrow ? 2 : 1;
      if (parts > 1 && count * parts > std::int64_t{device.multiprocessors} * on_one) break;
      Schedule schedule = tiles;
      schedule.split_tiles = count;
      schedule.units = count * parts;
      const auto steps = static_cast<double>(ceil_div(tiles.steps, parts));
      const double cycles = cycles_of(rates, tile, schedule.units, steps, device) +
                            meeting_cycles(size, schedule.units, parts, device) + kLaunch;
      schedule.microseconds =
          std::max(cycles, traffic_of(problem, sizeof(float)) / kBytesPerCycle + kLaunch) /
          kCyclesPerMicrosecond;
      if (best.microseconds < 0 || schedule.microseconds < best.microseconds) best = schedule;
    }
  }
  return best;
}

double persistent_microseconds(const Problem& problem, const DeviceProperties& device) {
  constexpr double kStart = 5000;        // cycles, of a block: its first steps' way
  constexpr double kResults = 1000;      // of a tile
  constexpr double kOfMultiplies = 1.8;  // cycles of a multiply-add
  const PersistentCut cut = persistent_cut(problem, device);
  const double products = static_cast<double>(cut.side) * cut.side * kPersistentDepth * cut.steps;
  const double rounds = std::ceil(static_cast<double>(cut.tiles) / static_cast<double>(cut.blocks));
  const double on_one = std::ceil(static_cast<double>(cut.blocks) / device.multiprocessors);
  const double single = is_single(problem, sizeof(float)) ? 1.5 : 1;
  const double of_thread = products / cut.side * kOfMultiplies * single;
  const double of_all = on_one * products / 128 * kOfMultiplies * single;
  const double cycles = kStart + rounds * (kResults + std::max(of_thread, of_all));
  return (kLaunch + std::max(cycles, traffic_of(problem, sizeof(float)) / kBytesPerCycle)) /
         kCyclesPerMicrosecond;
}

double skinny_microseconds(const Problem& problem, const DeviceProperties& device) {
  constexpr double kStart = 3000;  // cycles, of a block
  const SkinnyCut cut = skinny_cut(problem, device);
  const double multiplies = cut.by_lines ? 29 : 15;  // multiply-adds in a cycle of a multiprocessor
  const double rows = problem.m <= 4 ? 4 : 16;
  const double products = rows * static_cast<double>(problem.n) * static_cast<double>(problem.k) *
                          static_cast<double>(problem.batches);
  const double cycles = kLaunch + kStart + (cut.parts > 1 ? kLaunch : 0) +
                        std::max(products / multiplies / device.multiprocessors,
                                 traffic_of(problem, sizeof(float)) / kBytesPerCycle);
  return cycles / kCyclesPerMicrosecond;
}

std::string explain(const GemmArgs& args, const DeviceProperties& device) {
  const Problem problem = problem_of(args);
  if (device.device.kind == DeviceKind::cpu || problem.is_empty()) return "";
  if (size_of(args.a.dtype) == 2) {
    if (problem.k == 0) return "";
    const std::string few = explain_few(args, device);
    return few.empty() ? explain_wgmma(problem, device) : few;
  }
  const std::size_t element = size_of(args.a.dtype);
  const CopyWays ways = copy_ways(problem, element);
  std::array<char, 300> line;
  std::string text;
  const auto add = [&](auto... values) {
    (void)std::snprintf(line.data(), line.size(), values...);
    text += line.data();
  };
  const double flops = 2.0 * static_cast<double>(problem.batches) * static_cast<double>(problem.m) *
                       static_cast<double>(problem.n) * static_cast<double>(problem.k);
  const double bytes = traffic_of(problem, element);
  add("%.3g operations on %.3g MB, %.1f us of memory alone; a comes %s, b %s\n", flops, bytes / 1e6,
      bytes / kBytesPerCycle / kCyclesPerMicrosecond, name_of(ways.a), name_of(ways.b));
  for (const TileSize size : kTileSizes) {
    if (!has_tiles(element, size)) continue;
    const TileShape shape = tile_shape(element, size);
    const Schedule tiles = tiles_of(problem, element, size);
    const auto count = static_cast<double>(count_of(problem, tiles));
    add("%s tiles of %d x %d: %.0f of %lld steps of %d, %.2f rounds of %d blocks on each multiprocessor\n",
        name_of(size), shape.rows(), shape.columns(), count, static_cast<long long>(tiles.steps),
        shape.depth(), count / device.multiprocessors / shape.blocks, shape.blocks);
    consider(problem, element, device, size,
             [&](const Schedule& schedule) { text += "  " + text_of(schedule) + "\n"; });
  }
  if (element == sizeof(float)) {
    const Schedule schedule = clustered(problem, device);
    add("cluster_k, %lld blocks to a %s tile: %.1f us\n",
        static_cast<long long>(schedule.units / larger(schedule.split_tiles, 1)), name_of(schedule.size),
        schedule.microseconds);
    const PersistentCut cut = persistent_cut(problem, device);
    add("persistent, %lld blocks for %lld tiles of %d x %d: %.1f us\n", static_cast<long long>(cut.blocks),
        static_cast<long long>(cut.tiles), cut.side, cut.side, persistent_microseconds(problem, device));
  }
  const Problem skinny = skinny_problem_of(args);
  if (element == sizeof(float) && skinny.m <= kSkinnyRows)
    add("skinny, %lld rows: %.1f us\n", static_cast<long long>(skinny.m),
        skinny_microseconds(skinny, device));
  const Schedule best = fastest(problem, element, device);
  add("fastest of tiles: %s, %s\n", name_of(best.size), text_of(best).c_str());
  return text;
}

}  // namespace rooftile::gemm_plan
