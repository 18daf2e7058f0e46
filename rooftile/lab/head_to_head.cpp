#include "rooftile/lab/head_to_head.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace rooftile::lab {
namespace {

constexpr std::array<std::size_t, 4> kQuad = {0, 1, 1, 0};  // A B B A

struct Samples {
  std::vector<double> ratios;
  std::vector<double> a_us;
  std::vector<double> b_us;
};

Status measure_quad(Stopwatch& watch, Samples& samples) {
  ROOFTILE_TRY_ASSIGN(const std::vector<double> us, watch.run(kQuad));
  for (const std::size_t launch : {0, 1}) ROOFTILE_TRY(watch.status(launch));
  samples.a_us.insert(samples.a_us.end(), {us[0], us[3]});
  samples.b_us.insert(samples.b_us.end(), {us[1], us[2]});
  // A clock too coarse for these launches gives zeros: such a quad says nothing.
  const double a = us[0] * us[3];
  const double b = us[1] * us[2];
  if (a > 0.0 && b > 0.0) samples.ratios.push_back(std::sqrt(b / a));
  return {};
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
    for (; duel.quads < look && !last; ++duel.quads) {
      ROOFTILE_TRY(measure_quad(watch, samples));
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      last = spent.count() >= options.budget_s;
    }
    last = last || look == options.max_quads;
    if (samples.ratios.empty()) continue;
    duel.ratio = bootstrap_median(samples.ratios, options.seed, options.confidence);
    duel.verdict = judge(duel.ratio, static_cast<int>(samples.ratios.size()));
    if (duel.verdict != Verdict::insufficient) break;
  }
  duel.a = summarize(samples.a_us);
  duel.b = summarize(samples.b_us);
  duel.caveat = watch.caveat();
  return duel;
}

}  // namespace rooftile::lab
