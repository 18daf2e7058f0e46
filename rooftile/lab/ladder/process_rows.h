// The rows of peers that run in a process of their own: verified by the same judge, timed in the same rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/core/memory.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/ladder/ladder_timing.h"
#include "rooftile/lab/peer_process/peer_process.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

// Starts the process and adds an entry for each of its peers, or one that says why there is none.
[[nodiscard]] std::optional<PeerProcess> add_process_entries(const PeerProgram& program,
                                                             DeviceProblem& problem,
                                                             std::vector<LadderEntry>& entries);

// Of an entry with a process.
[[nodiscard]] CheckResult check_process_entry(const LadderEntry& entry, DeviceProblem& problem);
// What times it in that mode; `unsupported` where its process does not.
[[nodiscard]] Result<TimedLaunch> process_launch(const LadderEntry& entry, DeviceProblem& problem,
                                                 TimeMode mode);

// Whether times of the two processes can be compared: the same copy of the same bytes by both, in turns with all else.
class ProcessCheck {
 public:
  // None where no process has been timed. `bytes` are read and as many written.
  static Result<ProcessCheck> create(StreamRef stream, PeerProcess& process, TimeMode mode, double bytes);
  ProcessCheck() = default;

  // Adds both to the launches. This must stay where it is until they were timed.
  void add_to(std::vector<TimedLaunch>& launches, StreamRef stream);
  // The other process's time over ours.
  [[nodiscard]] Result<Interval> ratio(std::span<const TimeSeries> series, std::uint64_t seed) const;

 private:
  PeerProcess* process_ = nullptr;
  DeviceMemory source_;
  DeviceMemory target_;
  std::size_t first_ = 0;  // of its two launches
};

}  // namespace rooftile::lab
