// What the OS threads of watched launches share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rooftile/sim/checked/buffers.h"
#include "rooftile/sim/checked/contested.h"
#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/proxy_fences.h"
#include "rooftile/sim/checked/raw_findings.h"
#include "rooftile/sim/checked/session.h"
#include "rooftile/sim/checked/source_lines.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::checked {

class Checker;
struct ClusterState;

struct RawSync {
  std::uint64_t count = 0;
  std::uint64_t lanes = 0;
};
using RawSyncs = std::map<std::pair<Place, const char*>, RawSync>;  // with the intrinsic's name

class SessionState final : public detail::LaunchWatcher {
 public:
  explicit SessionState(const SessionOptions& options);
  ~SessionState() override;

  void launch_started(const detail::GridRun& grid) override;
  detail::BlockWatcher* enter(const detail::GridRun& grid, detail::BlockRunner& runner) override;
  void leave(detail::BlockWatcher& watcher) override;
  void launch_failed(const std::string& what) override;

  const SessionOptions options;
  Buffers buffers;
  Buffers device_variables;    // __device__ ones
  ReleasedKnowledge released;  // of the launch
  ProxyFences global_fences;   // of the launch
  ContestedStores contested;   // of the launch
  // Accesses of different epochs are ordered: a launch, and each
  // grid barrier in it, begins one. Sessions never share one.
  [[nodiscard]] std::uint32_t launch_epoch() const { return launch_epoch_; }
  void reached_epoch(std::uint32_t epoch);
  // Whether a barrier, fence or wait stands at a line that the options disable.
  [[nodiscard]] bool is_disabled(const Place& place);

  // Whether another OS thread stores there just now; its value is then told.
  [[nodiscard]] bool is_in_flight(std::uintptr_t address, const Checker* of_caller);

  [[nodiscard]] std::string describe(const void* pc);  // "kernel.cu:41"
  // Of the structs whose members the line of this access names.
  [[nodiscard]] unsigned member_alignment(const void* pc);

  [[nodiscard]] Report report();

 private:
  [[nodiscard]] SourceLine line_of(const Place& place);
  void add_accesses(Report& report);
  void add_syncs(Report& report);
  void add_findings(Report& report);
  void add_raw(std::vector<Finding>& findings, const RawFindings& raw);

  std::mutex mutex_;
  SourceLines lines_;
  std::map<detail::BlockRunner*, std::unique_ptr<Checker>> checkers_;
  std::unique_ptr<ClusterState> cluster_;  // of a launch with clusters
  std::vector<std::pair<const void*, KernelRuns>> kernels_;
  const void* kernel_ = nullptr;  // that runs
  std::uint32_t launch_epoch_ = 0;
  std::vector<Finding> failures_;
  RawFindings races_;  // of stores of several blocks
  RawFindings remarks_;
};

}  // namespace rooftile::simt::checked
