#include "rooftile/lab/ladder/process_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rooftile/lab/base/format_bytes.h"

namespace rooftile::lab {
namespace {

constexpr double kMostCopied = 64.0 * 1024 * 1024;

LadderEntry make_entry(const std::string& id, const std::string& version, const std::string& reason) {
  LadderEntry entry;
  entry.candidate.id = entry.row.rung = id;
  entry.candidate.idea = entry.row.idea = version;
  entry.candidate.kind = CandidateKind::peer;
  entry.row.kind = to_string(CandidateKind::peer);
  if (!reason.empty()) {
    entry.row.status = RowStatus::skipped;
    entry.row.reason = entry.candidate.unsupported = reason;
  }
  return entry;
}

PoisonedRun runs_of(const LadderEntry& entry) {
  return [process = entry.process, id = entry.candidate.id](int poison, std::string& found) {
    return process->run(id, poison, found);
  };
}

}  // namespace

std::optional<PeerProcess> add_process_entries(const PeerProgram& program, DeviceProblem& problem,
                                               std::vector<LadderEntry>& entries) {
  Result<PeerProcess> process =
      PeerProcess::start(program, problem.properties(), problem.host().tensor_bytes());
  if (!process.ok()) {
    entries.push_back(make_entry("torch", "", process.status().sentence()));
    return std::nullopt;
  }
  const Result<std::vector<ProcessPeer>> peers = process->prepare(problem);
  if (!peers.ok()) {
    entries.push_back(make_entry("torch", process->version(), peers.status().sentence()));
    // A call that is written down wrongly, or a process that dies over it, is a mistake and not a reason to skip.
    const StatusCode code = peers.status().code();
    if (code != StatusCode::unsupported && code != StatusCode::out_of_memory)
      entries.back().row.status = RowStatus::failed;
    return std::nullopt;
  }
  for (const ProcessPeer& peer : *peers)
    entries.push_back(make_entry(peer.id, process->version(), peer.reason));
  return std::move(*process);
}

CheckResult check_process_entry(const LadderEntry& entry, DeviceProblem& problem) {
  return check_peer_runs(entry.candidate.id, problem, runs_of(entry));
}

Result<TimedLaunch> process_launch(const LadderEntry& entry, DeviceProblem& problem, TimeMode mode) {
  ROOFTILE_TRY(entry.process->set_mode(entry.candidate.id, mode));
  return TimedLaunch{
      .launch = {},
      .check =
          [&entry, &problem](const std::function<Status()>&) {
            return check_peer_again(entry.check, problem.host(), runs_of(entry));
          },
      .measure = [process = entry.process, id = entry.candidate.id](TimeMode) { return process->time(id); }};
}

Result<ProcessCheck> ProcessCheck::create(StreamRef stream, PeerProcess& process, TimeMode mode,
                                          double bytes) {
  ProcessCheck check;
  check.process_ = &process;
  const auto count = static_cast<std::size_t>(std::clamp(bytes, 1.0, kMostCopied));
  ROOFTILE_TRY_ASSIGN(check.source_, DeviceMemory::allocate(stream.device, count));
  ROOFTILE_TRY_ASSIGN(check.target_, DeviceMemory::allocate(stream.device, count));
  for (const DeviceMemory* memory : {&check.source_, &check.target_})
    ROOFTILE_TRY(fill_bytes(stream, memory->data(), 1, count));
  ROOFTILE_TRY(process.prepare_copy(count));
  ROOFTILE_TRY(process.set_mode(PeerProcess::kCopy, mode));
  return check;
}

void ProcessCheck::add_to(std::vector<TimedLaunch>& launches, StreamRef stream) {
  first_ = launches.size();
  launches.push_back({.launch = [this, stream] {
    return copy(stream, target_.data(), stream.device, source_.data(), stream.device, source_.bytes());
  }});
  launches.push_back({.launch = {}, .measure = [process = process_](TimeMode) {
                        return process->time(PeerProcess::kCopy);
                      }});
}

Result<Interval> ProcessCheck::ratio(std::span<const TimeSeries> series, std::uint64_t seed) const {
  const TimeSeries& ours = series[first_];
  const TimeSeries& theirs = series[first_ + 1];
  for (const TimeSeries* one : {&ours, &theirs}) ROOFTILE_TRY(one->status);
  if (ours.samples_us.empty() || ours.samples_us.size() != theirs.samples_us.size())
    return unavailable("there was no round for it");
  return ratio_of_medians(ours.samples_us, theirs.samples_us, seed);
}

}  // namespace rooftile::lab
