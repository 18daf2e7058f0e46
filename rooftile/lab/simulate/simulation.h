// A rung on the simulated SM, watched access by access: what its requests cost, and what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/case_request.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/sim/checked/session.h"

namespace rooftile::lab {

struct WatchedRun {
  simt::checked::Report report;
  std::string wrong;  // why the outputs are not right, or the launch failed; empty: they are
  double max_error = 0;
};

// One launch of the candidate's checked build; its tensors and its workspace are the buffers that it may
// touch. Precondition: candidate.unsupported is empty.
[[nodiscard]] Result<WatchedRun> watch_candidate(const Candidate& candidate, DeviceProblem& problem,
                                                 const simt::checked::SessionOptions& options);

// What a rung's accesses cost on the simulated SM; 0 where it makes none of the kind.
struct AccessSummary {
  double load_sectors = 0;  // of global memory, per request
  double ideal_load_sectors = 0;
  double store_sectors = 0;
  double ideal_store_sectors = 0;
  double conflict_degree = 0;  // of shared memory; 1: none
  unsigned worst_conflict = 0;
  double constant_words = 0;  // of constant memory, different ones per request; 1 is what it is made for
  double lanes = 0;           // active per request
  double block_lanes = 0;     // active per basic block: divergence of all code
  double bytes_moved = 0;
  std::uint64_t barriers = 0;
  std::uint64_t shuffles = 0;
};

[[nodiscard]] AccessSummary summarize(const simt::checked::Report& report);

struct Simulation {
  std::string operator_name;
  std::string rung;
  std::string idea;
  Case the_case;
  bool shrunk = false;      // in place of a larger case
  double bytes_needed = 0;  // the algorithm's minimum
  WatchedRun run;
  // The rung's expectations that do not hold; not looked at on a case of the caller's.
  std::vector<std::string> broken;
  std::string wrong_on_purpose;  // the rung's planted mistake; empty: it has none

  // A mistake where none is planted, a planted one that was not found, or a broken expectation.
  [[nodiscard]] bool failed() const {
    const bool mistaken = !run.wrong.empty() || !run.report.findings.empty();
    return mistaken == wrong_on_purpose.empty() || !broken.empty();
  }
};

struct SimulationOptions {
  CaseRequest request;
  int multiprocessors = 0;  // for which rungs plan their grids; 0: the simulated SM's own few
  simt::checked::SessionOptions session{.metrics = true};
};

// The rung on the default case of the simulated SM, with the caller's changes.
[[nodiscard]] Result<Simulation> simulate(const Registry& registry, const OperatorDescriptor& op,
                                          const std::string& rung, const SimulationOptions& options);

// What `simulate` runs for this request: the case that was asked for; where no shape was, the quick cases, those of its
// dtype and of its parameters before the others (which only count where none was asked for), the largest first: a rung
// takes the first that it serves.
[[nodiscard]] std::vector<Case> simulated_cases(const OperatorCases& cases, const Case& wanted,
                                                const CaseRequest& request);

// By the name that JSON gives it; none where nothing was counted for it.
[[nodiscard]] Result<std::optional<double>> access_metric(const Simulation& simulation,
                                                          const std::string& name);

// A table for people: every source line beside its numbers, the worst marked, and what they mean.
[[nodiscard]] std::string simulation_table(const Simulation& simulation, int width, bool colour);
// Schema 1.
[[nodiscard]] std::string simulation_json(const Simulation& simulation, const std::string& command);

// What the numbers of a line say, in one sentence.
[[nodiscard]] std::string meaning_of(const simt::checked::LineAccesses& line);

}  // namespace rooftile::lab
