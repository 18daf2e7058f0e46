// The timed half of a ladder: rows that passed their check get their numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/ladder/ladder.h"
#include "rooftile/lab/peer_process/peer_process.h"

namespace rooftile::lab {

// A row of the ladder on its way from the candidate to its numbers.
struct LadderEntry {
  LadderRow row;
  Candidate candidate;
  CheckResult check;
  Scratch scratch;
  std::size_t series = 0;  // index of its time series, where it was timed
  bool timed = false;
  PeerProcess* process = nullptr;  // of a peer that runs in one
};

// Times all verified entries and the bound together in result.mode, and fills
// in what follows from the times. Adds the row of the bound.
[[nodiscard]] Status time_entries(std::vector<LadderEntry>& entries, DeviceProblem& problem,
                                  const LadderOptions& options, LadderResult& result);

// A row's time from its samples, and its rates.
void set_time(LadderRow& row, const TimeSeries& series, TimeMode mode, double bytes, double flops);

}  // namespace rooftile::lab
