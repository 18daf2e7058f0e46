#include "rooftile/lab/case/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "rooftile/core/params.h"

namespace rooftile::lab {
namespace {

std::string no_launcher(Device device) {
  return fmt::format(
      "there is no launcher for {}: the rung's file must define `Status ROOFTILE_RUNG(const Call<Args>&)` in the "
      "operator's namespace of rungs",
      to_string(device));
}

// `plans`: not where the call writes nothing, for which the library plans nothing, either.
Candidate from_rung(const RungRow& rung, ArgsRef args, const DeviceProperties& device, bool plans) {
  Candidate candidate;
  candidate.id = rung.id;
  candidate.idea = rung.idea;
  candidate.kind = rung.kind == RungKind::cpu ? CandidateKind::cpu : CandidateKind::rung;
  candidate.determinism = rung.determinism;
  candidate.launch = launch_for(rung, device.device.kind);
  if (device.device.kind == DeviceKind::sim) candidate.checked = rung.launch.checked;
  candidate.built = static_cast<bool>(candidate.launch);
  candidate.absent = rung.absent;
  candidate.lost = !candidate.built && !candidate.absent;
  candidate.unsupported =
      candidate.lost ? no_launcher(device.device) : unsupported_reason(rung, args, device);
  if (candidate.unsupported.empty() && plans) candidate.plan = plan_rung(rung, args, device);
  return candidate;
}

Candidate from_peer(const PeerRow& peer, ArgsRef args, const DeviceProperties& device, bool plans) {
  Candidate candidate;
  candidate.id = peer.id;
  candidate.idea = peer.version;
  candidate.kind = CandidateKind::peer;
  candidate.determinism = Determinism::not_guaranteed;  // we verify a peer's result, not its promises
  candidate.launch = peer.launch;
  candidate.prepare = peer.prepare;
  candidate.built = static_cast<bool>(peer.launch);
  if (!candidate.built) {
    candidate.unsupported = "not built";
  } else if (peer.supports) {
    candidate.unsupported = peer.supports(args, device);
  }
  if (candidate.unsupported.empty() && peer.plan && plans) candidate.plan = peer.plan(args, device);
  return candidate;
}

bool named(const std::vector<std::string>& only, const std::string& id) {
  return only.empty() || std::find(only.begin(), only.end(), id) != only.end();
}

RungKind kind_on(DeviceKind kind) { return kind == DeviceKind::cpu ? RungKind::cpu : RungKind::gpu; }

}  // namespace

std::string_view to_string(CandidateKind kind) {
  switch (kind) {
    case CandidateKind::rung:
      return "rung";
    case CandidateKind::cpu:
      return "cpu";
    case CandidateKind::peer:
      return "peer";
  }
  return "rung";
}

std::vector<Candidate> candidates(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                                  const std::vector<std::string>& only, ArgsRef args,
                                  const DeviceProperties& device) {
  std::vector<Candidate> list;
  const bool plans = !writes_nothing(op, args);
  for (const RungRow& rung : op.rungs) {
    if (rung.kind == kind_on(device.device.kind) && named(only, rung.id))
      list.push_back(from_rung(rung, args, device, plans));
  }
  for (const PeerRow* peer : peers) {
    if (peer->device == device.device.kind && named(only, peer->id))
      list.push_back(from_peer(*peer, args, device, plans));
  }
  return list;
}

Result<LaunchFn> prepared_launch(const Candidate& candidate, const AnyCall& call) {
  if (!candidate.prepare) return candidate.launch;
  return candidate.prepare(call);
}

bool has_candidates(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                    const std::vector<std::string>& only, DeviceKind kind) {
  const bool has_peer = std::any_of(peers.begin(), peers.end(), [&](const PeerRow* peer) {
    return peer->device == kind && named(only, peer->id);
  });
  return has_peer || std::any_of(op.rungs.begin(), op.rungs.end(), [&](const RungRow& rung) {
           return rung.kind == kind_on(kind) && named(only, rung.id);
         });
}

Status check_rung_names(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                        const std::vector<std::string>& names) {
  std::vector<std::string> known = op.rung_ids();
  for (const PeerRow* peer : peers) known.push_back(peer->id);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    return invalid_argument(fmt::format("unknown rung '{}' of {}: {}", name, op.name,
                                        near.empty() ? fmt::format("choose one of {}", fmt::join(known, ", "))
                                                     : fmt::format("did you mean '{}'?", near)));
  }
  return {};
}

}  // namespace rooftile::lab
