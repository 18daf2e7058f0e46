#include "rooftile/sim/checked/report.h"

#include <algorithm>

#include "rooftile/sim/checked/requests.h"

namespace rooftile::simt::checked {
namespace {

double ratio(std::uint64_t numerator, std::uint64_t denominator) {
  return denominator == 0 ? 0.0 : static_cast<double>(numerator) / static_cast<double>(denominator);
}

}  // namespace

std::string to_string(const SourceLine& line) {
  if (line.file.empty()) return "an unknown line";
  const std::size_t slash = line.file.rfind('/');
  return (slash == std::string::npos ? line.file : line.file.substr(slash + 1)) + ":" +
         std::to_string(line.line);
}

const char* to_string(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
    case AccessKind::async_copy:
      return "async copy";
  }
  return "";
}

const char* to_string(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::shared:
      return "shared";
    case MemorySpace::constant:
      return "constant";
  }
  return "";
}

const char* to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::race:
      return "race";
    case FindingKind::same_value:
      return "same_value";
    case FindingKind::uninitialised:
      return "uninitialised";
    case FindingKind::out_of_bounds:
      return "out_of_bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::read_only_write:
      return "read_only_write";
    case FindingKind::missing_proxy_fence:
      return "missing_proxy_fence";
    case FindingKind::missing_wgmma_fence:
      return "missing_wgmma_fence";
    case FindingKind::registers_in_use:
      return "registers_in_use";
    case FindingKind::left_cluster:
      return "left_cluster";
    case FindingKind::shuffle_source:
      return "shuffle_source";
    case FindingKind::divergent_barrier:
      return "divergent_barrier";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::failure:
      return "failure";
  }
  return "";
}

void AccessCounts::add(const AccessCounts& other) {
  if (other.requests == 0) return;
  if (requests > 0 && (other.strides_differ || lane_stride != other.lane_stride)) {
    // A request of one lane has no stride, and does not disagree.
    if (lane_stride && other.lane_stride) strides_differ = true;
    if (!lane_stride && !strides_differ) lane_stride = other.lane_stride;
    strides_differ = strides_differ || other.strides_differ;
  } else if (requests == 0) {
    lane_stride = other.lane_stride;
    strides_differ = other.strides_differ;
  }
  if (strides_differ) lane_stride.reset();
  requests += other.requests;
  lanes += other.lanes;
  lane_bytes = std::max(lane_bytes, other.lane_bytes);
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  lines += other.lines;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  worst_conflict = std::max(worst_conflict, other.worst_conflict);
  multiplicity += other.multiplicity;
  worst_multiplicity = std::max(worst_multiplicity, other.worst_multiplicity);
}

double AccessCounts::lanes_per_request() const { return ratio(lanes, requests); }
double AccessCounts::sectors_per_request() const { return ratio(sectors, requests); }
double AccessCounts::ideal_sectors_per_request() const { return ratio(ideal_sectors, requests); }
double AccessCounts::conflict_degree() const { return ratio(wavefronts, ideal_wavefronts); }
double AccessCounts::mean_multiplicity() const { return ratio(multiplicity, requests); }

AccessCounts Report::total(MemorySpace space, AccessKind kind) const {
  AccessCounts sum;
  for (const LineAccesses& line : accesses) {
    if (line.space == space && line.kind == kind) sum.add(line.counts);
  }
  return sum;
}

AccessCounts Report::total() const {
  AccessCounts sum;
  for (const LineAccesses& line : accesses) {
    if (line.kind != AccessKind::async_copy) sum.add(line.counts);
  }
  return sum;
}

double Report::bytes_moved() const {
  std::uint64_t sectors = 0;
  for (const LineAccesses& line : accesses) {
    if (line.space == MemorySpace::global) sectors += line.counts.sectors;
  }
  return static_cast<double>(sectors) * kSectorBytes;
}

}  // namespace rooftile::simt::checked
