// Records: JSON, ladders of schema 2 and all else of schema 1 (docs/records.md).
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/peers.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/ladder/ladder.h"
#include "rooftile/lab/ladder/verdict_trial.h"
#include "rooftile/lab/time/ceilings.h"

namespace rooftile::lab {

// Each ends with a newline. `command` is the command line that made the record.
[[nodiscard]] std::string ladder_json(const LadderReport& report, const std::string& command);
[[nodiscard]] std::string verify_json(const VerifyReport& report, const std::string& command);
[[nodiscard]] std::string verdict_trial_json(const VerdictTrial& trial, const std::string& command);
[[nodiscard]] std::string list_json(const Registry& registry);

// What a device can do and what it was measured to do.
struct DeviceEntry {
  DeviceProperties properties;
  CachedCeilings measured;
};
struct DeviceReport {
  std::vector<DeviceEntry> devices;
  std::string cuda_reason;  // why no GPU is usable; empty where one is
  std::vector<PeerLibrary> peers;
};
[[nodiscard]] std::string device_json(const DeviceReport& report);

// Where a rung can run on this machine.
struct Availability {
  bool cuda = false;
  bool cpu = false;
  bool sim = false;
  std::string reason;  // why it is not available where its kind could run; empty where it is
};
[[nodiscard]] Availability availability(const RungRow& rung);

}  // namespace rooftile::lab
