#include "rooftile/lab/time/head_to_head.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace rooftile::lab {
namespace {

constexpr std::size_t kFewestRatios = 10;
constexpr int kQuad = 4;               // launches
constexpr int kMostQuadsAtOnce = 8;    // between two waits for the device
constexpr double kAtOnceUs = 20000.0;  // so that the budget is looked at often enough

struct Samples {
  std::vector<double> ratios;  // of one quad each; 0 where the clock was too coarse
  std::vector<double> a_us;
  std::vector<double> b_us;
};

// The side, 0 or 1, of the quad's launch at this place: A B B A,
// or B A A B where the quad's number has an odd count of ones.
std::size_t side(int quad, int place) {
  const bool outer = place == 0 || place == kQuad - 1;
  const bool swapped = std::popcount(static_cast<unsigned>(quad)) % 2 == 1;
  return outer == swapped ? 1 : 0;
}

Status measure_quads(Stopwatch& watch, int first, int count, Samples& samples) {
  std::vector<std::size_t> order;
  for (int quad = first; quad < first + count; ++quad) {
    for (int place = 0; place < kQuad; ++place) order.push_back(side(quad, place));
  }
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us, watch.run(order));
  for (const std::size_t launch : {0, 1}) ROOFTILE_TRY(watch.status(launch));
  for (std::size_t quad = 0; quad < us.size(); quad += kQuad) {
    std::array<double, 2> product = {1.0, 1.0};
    for (std::size_t i = quad; i < quad + kQuad; ++i) {
      product[order[i]] *= us[i];
      (order[i] == 0 ? samples.a_us : samples.b_us).push_back(us[i]);
    }
    const bool counted = product[0] > 0.0 && product[1] > 0.0;
    samples.ratios.push_back(counted ? std::sqrt(product[1] / product[0]) : 0.0);
  }
  return {};
}

// The ratios that the verdict rests on: of two neighbouring quads, one of either kind,
// where there are enough of them, else of one quad each. What alternates from launch to
// launch (an H200 has times of 22.5 and 24 us in turns when it reads 64 MiB, a little
// more than its L2) would give the two kinds of quads a ratio of their own each.
std::vector<double> ratios_of(const Samples& samples) {
  std::vector<double> ratios;
  const std::size_t step = samples.ratios.size() / 2 >= kFewestRatios ? 2 : 1;
  for (std::size_t i = 0; i + step <= samples.ratios.size(); i += step) {
    const double product = samples.ratios[i] * samples.ratios[i + step - 1];
    if (product > 0.0) ratios.push_back(std::sqrt(product));
  }
  return ratios;
}

// As many quads as fit into a short while by what the launches took so far; one where nothing is known yet.
int quads_at_once(const Samples& samples) {
  if (samples.a_us.empty()) return 1;
  const double quad_us = 2.0 * (quantile(samples.a_us, 0.5) + quantile(samples.b_us, 0.5));
  return static_cast<int>(std::clamp(kAtOnceUs / std::max(quad_us, 1.0), 1.0, double{kMostQuadsAtOnce}));
}

}  // namespace

Result<Duel> compare_launches(StreamRef stream, const DeviceProperties& device, const TimedLaunch& a,
                              const TimedLaunch& b, const DuelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ROOFTILE_TRY_ASSIGN(Stopwatch watch, Stopwatch::create(stream, device, {a, b}, options.mode));
  Duel duel;
  Samples samples;
  int look = std::min(std::max(options.first_look, 10), options.max_quads);
  for (bool last = false; !last; look = std::min(2 * look, options.max_quads)) {
    while (duel.quads < look && !last) {
      const int count = std::min(quads_at_once(samples), look - duel.quads);
      ROOFTILE_TRY(measure_quads(watch, duel.quads, count, samples));
      duel.quads += count;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      last = spent.count() >= options.budget_s;
    }
    last = last || look == options.max_quads;
    const std::vector<double> ratios = ratios_of(samples);
    if (ratios.empty()) continue;
    duel.ratio = bootstrap_median(ratios, options.seed, options.confidence);
    const double step = event_step_us(stream.device.kind) / quantile(samples.a_us, 0.5);
    duel.verdict = judge(duel.ratio, static_cast<int>(ratios.size()), std::max(kSameMargin, step));
    if (duel.verdict != Verdict::insufficient) break;
  }
  duel.a = summarize(samples.a_us);
  duel.b = summarize(samples.b_us);
  duel.caveat = watch.caveat();
  return duel;
}

}  // namespace rooftile::lab
