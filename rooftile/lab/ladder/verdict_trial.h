// How far the verdicts can be trusted on this machine: a launch against the same with buffers of its own, and against the
// same work with a known difference, many times over; with `neighbours` among other rungs, as in a ladder.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "rooftile/core/registry.h"
#include "rooftile/lab/ladder/ladder.h"
#include "rooftile/lab/time/statistics.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

inline constexpr double kMostFalse = 0.05;    // of A/A comparisons that may say faster or slower
inline constexpr double kFewestFound = 0.90;  // of A/B comparisons that must say faster

struct VerdictTrialOptions {
  CaseRequest request;
  std::string rung;  // empty: the one that the operator chooses
  Device device;
  int runs = 200;
  double difference = 0.03;  // by which b's largest extent is larger
  int neighbours = 2;        // other rungs, at most, that take turns with those that are compared
  // A quiet machine decides in the first 60 rounds; the rest is for a host whose other guests are busy.
  TimingOptions timing = {.max_rounds = 3840, .budget_s = 2.0};
  std::uint64_t seed = 1;
  std::function<void(int done, int total)> on_run;
};

struct VerdictCounts {
  std::array<int, 4> of{};  // indexed by Verdict
  int runs = 0;
  double low = 0;  // the smallest and the largest median ratio of all runs
  double high = 0;
  [[nodiscard]] int count(Verdict verdict) const { return of[static_cast<std::size_t>(verdict)]; }
  [[nodiscard]] double share(Verdict verdict) const;
};

struct VerdictTrial {
  std::string operator_name;
  std::string rung;
  Device device;
  Case a;
  Case b;
  double difference = 0;  // in the bytes of the two cases, as it came out
  TimeMode mode = TimeMode::stream_cold;
  double median_us = 0;   // of a launch of a
  VerdictCounts same;     // A/A
  VerdictCounts differs;  // A/B
  double seconds = 0;
  std::vector<std::string> neighbours;
  std::string caveat;

  // Empty, or which of the two gates the verdicts missed.
  [[nodiscard]] std::string finding() const;
};

// Verifies the rung on both cases, then measures: A/A and A/B share their rounds. Not for calls that overwrite an input.
[[nodiscard]] Result<VerdictTrial> try_verdicts(const Registry& registry, const OperatorDescriptor& op,
                                                const VerdictTrialOptions& options);

}  // namespace rooftile::lab
