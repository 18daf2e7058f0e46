#include "rooftile/sim/checked/session.h"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "rooftile/sim/checked/checker.h"
#include "rooftile/sim/checked/cluster_state.h"
#include "rooftile/sim/checked/kernel_variables.h"
#include "rooftile/sim/checked/member_alignment.h"
#include "rooftile/sim/checked/session_state.h"
#include "rooftile/sim/grid.h"

namespace rooftile::simt::checked {
namespace {

std::atomic<bool> g_session_open{false};
std::uint32_t g_last_epoch = 0;  // of a session's launches, which belong to one thread

// The executor's own words for how a launch ended.
FindingKind kind_of_failure(std::string_view what) {
  const auto says = [what](std::string_view text) { return what.find(text) != std::string_view::npos; };
  if (says(": divergent barrier: ")) return FindingKind::divergent_barrier;
  if (says(": deadlock: ") || says(": livelock: ")) return FindingKind::deadlock;
  if (says(": out of bounds: ")) return FindingKind::out_of_bounds;
  if (says(": misaligned access: ")) return FindingKind::misaligned;
  return FindingKind::failure;
}

}  // namespace

SessionState::SessionState(const SessionOptions& session_options) : options(session_options) {
  for (const KernelVariable& variable : KernelVariables::of_program().device()) {
    device_variables.add(
        {"__device__ " + variable.name, reinterpret_cast<const void*>(variable.place), variable.bytes, true});
  }
}
SessionState::~SessionState() = default;

bool SessionState::is_in_flight(std::uintptr_t address, const Checker* of_caller) {
  const std::scoped_lock lock(mutex_);
  bool found = false;
  for (const auto& [runner, checker] : checkers_) {
    if (checker.get() != of_caller && checker->contest(address)) found = true;
  }
  return found;
}

void SessionState::launch_started(const detail::GridRun& grid) {
  contested.conclude(races_, remarks_);
  kernel_ = grid.kernel.kernel;
  launch_epoch_ = ++g_last_epoch;
  released.clear();
  global_fences.clear();
  const dim3& cluster = grid.shape.cluster;
  cluster_ = std::make_unique<ClusterState>(cluster.x * cluster.y * cluster.z);
  auto known =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& k) { return k.first == kernel_; });
  if (known == kernels_.end()) {
    kernels_.push_back({kernel_, {.name = lines_.kernel_name(kernel_)}});
    known = kernels_.end() - 1;
  }
  KernelRuns& runs = known->second;
  ++runs.launches;
  runs.blocks += grid.blocks;
  runs.threads = std::max<std::uint64_t>(runs.threads, grid.block_threads);
  runs.at_once = runs.at_once || cluster_->blocks > 1 || grid.shape.cooperative;
}

detail::BlockWatcher* SessionState::enter(const detail::GridRun& grid, detail::BlockRunner& runner) {
  Checker* checker = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Checker>& place = checkers_[&runner];
    if (place == nullptr) place = std::make_unique<Checker>(*this, runner);
    checker = place.get();
  }
  checker->bind(grid, cluster_->blocks > 1 ? cluster_.get() : nullptr);
  return checker;
}

void SessionState::leave(detail::BlockWatcher& watcher) { static_cast<Checker&>(watcher).unbind(); }

void SessionState::launch_failed(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  const FindingKind kind = kind_of_failure(what);
  if (kind == FindingKind::out_of_bounds || kind == FindingKind::misaligned)
    return;  // found already, with its line
  // Of several blocks that fail in one way the first is told.
  for (Finding& failure : failures_) {
    if (failure.kind != kind) continue;
    ++failure.count;
    return;
  }
  failures_.push_back({kind, lines_.kernel_name(kernel_), {}, {}, what, 1});
}

void SessionState::reached_epoch(std::uint32_t epoch) {
  const std::scoped_lock lock(mutex_);
  g_last_epoch = std::max(g_last_epoch, epoch);
}

SourceLine SessionState::line_of(const Place& place) {
  if (place.file != nullptr) return {project_path(place.file), place.line};
  return place.pc != nullptr ? lines_.line_of(place.pc) : SourceLine{};
}

bool SessionState::is_disabled(const Place& place) {
  const std::scoped_lock lock(mutex_);
  const SourceLine here = line_of(place);
  return std::find(options.disabled.begin(), options.disabled.end(), here) != options.disabled.end();
}

std::string SessionState::describe(const void* pc) {
  const std::scoped_lock lock(mutex_);
  return to_string(lines_.line_of(pc));
}

unsigned SessionState::member_alignment(const void* pc) {
  const std::scoped_lock lock(mutex_);
  return MemberAlignment::of_program().of_line(lines_.innermost_of(pc));
}

void SessionState::add_accesses(Report& report) {
  const auto add = [&](const SourceLine& at, AccessKind kind, MemorySpace space, const AccessCounts& counts) {
    auto same = std::find_if(report.accesses.begin(), report.accesses.end(), [&](const LineAccesses& line) {
      return line.at == at && line.kind == kind && line.space == space;
    });
    if (same == report.accesses.end()) {
      report.accesses.push_back({at, kind, space, {}});
      same = report.accesses.end() - 1;
    }
    same->counts.add(counts);
  };
  for (const auto& [runner, checker] : checkers_) {
    report.basic_blocks += checker->basic_blocks();
    report.basic_block_lanes += checker->basic_block_lanes();
    report.instrumented_accesses += checker->accesses();
    for (const Site& site : checker->sites().slots()) {
      if (site.pc != nullptr) add(lines_.line_of(site.pc), site.kind, site.space, site.counts);
    }
    for (const auto& [key, counts] : checker->copies()) {
      add(line_of(key.first), AccessKind::async_copy, key.second, counts);
    }
  }
  std::sort(report.accesses.begin(), report.accesses.end(), [](const LineAccesses& a, const LineAccesses& b) {
    return std::tie(a.at, a.space, a.kind) < std::tie(b.at, b.space, b.kind);
  });
}

void SessionState::add_syncs(Report& report) {
  std::map<std::pair<SourceLine, std::string>, RawSync> sums;
  for (const auto& [runner, checker] : checkers_) {
    for (const auto& [key, sync] : checker->syncs()) {
      RawSync& sum = sums[{line_of(key.first), key.second}];
      sum.count += sync.count;
      sum.lanes += sync.lanes;
    }
  }
  for (const auto& [key, sum] : sums) report.syncs.push_back({key.first, key.second, sum.count, sum.lanes});
}

void SessionState::add_findings(Report& report) {
  contested.conclude(races_, remarks_);
  report.findings = failures_;
  add_raw(report.findings, races_);
  add_raw(report.remarks, remarks_);
  for (const auto& [runner, checker] : checkers_) {
    add_raw(report.findings, checker->findings());
    add_raw(report.remarks, checker->remarks());
  }
}

void SessionState::add_raw(std::vector<Finding>& findings, const RawFindings& raw_findings) {
  for (const auto& [key, raw] : raw_findings) {
    const auto& [kind, place, other_place] = key;
    const SourceLine at = line_of(place);
    const SourceLine other = line_of(other_place);
    // Several instructions of a line, and several OS threads, find the same mistake.
    const auto same = std::find_if(findings.begin(), findings.end(), [&, k = kind](const Finding& f) {
      return f.kind == k && f.at == at && f.other == other;
    });
    if (same != findings.end()) {
      same->count += raw.count;
    } else {
      findings.push_back({kind, lines_.kernel_name(raw.kernel), at, other, raw.what, raw.count});
    }
  }
}

Report SessionState::report() {
  Report report;
  for (const auto& [code, runs] : kernels_) report.kernels.push_back(runs);
  add_accesses(report);
  add_syncs(report);
  add_findings(report);
  return report;
}

Session::Session(const SessionOptions& options) : state_(std::make_unique<SessionState>(options)) {}

Result<std::unique_ptr<Session>> Session::start(const SessionOptions& options) {
  if (g_session_open.exchange(true)) {
    return unsupported("another watched run is going on: one at a time");
  }
  std::unique_ptr<Session> session(new Session(options));
  detail::set_launch_watcher(session->state_.get());
  return session;
}

Session::~Session() {
  if (state_ == nullptr) return;
  detail::set_launch_watcher(nullptr);
  g_session_open.store(false);
}

void Session::add_buffer(const Buffer& buffer) { state_->buffers.add(buffer); }

Report Session::finish() {
  detail::set_launch_watcher(nullptr);
  Report report = state_->report();
  state_.reset();
  g_session_open.store(false);
  return report;
}

}  // namespace rooftile::simt::checked
