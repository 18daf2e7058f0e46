// A peer in a process of its own: torch, which cannot be a plugin. A child (torch_child.py) holds the tensors of a case
// and runs, or times, one launch when it is asked to, so that its launches take turns with ours.
//
// Whatever becomes of the child is a Status that says so; what it wrote is judged like any result.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/status.h"
#include "rooftile/lab/base/child_process.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/peer_process/peer_files.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

struct PeerProgram {
  std::string python{};  // empty: $ROOFTILE_PYTHON, else python3 of $PATH
  std::string folder{};  // of torch_child.py and all X_peers_torch.py; empty: peers/ beside this program
  double limit_s = 0;    // of an answer; 0: $ROOFTILE_PEER_SECONDS, else two minutes
  bool compile = false;  // also what torch.compile makes of the same call
};

struct ProcessPeer {
  std::string id;      // "torch"
  std::string reason;  // why it does not serve the case; empty: it does
};

class PeerProcess {
 public:
  // The error says why there is none: no python3, no torch, no GPU that it is built for. `bytes` of tensors will travel.
  static Result<PeerProcess> start(const PeerProgram& program, const DeviceProperties& device, double bytes);

  [[nodiscard]] const std::string& version() const { return version_; }  // "torch 2.11.0+cu130"

  // Hands it the case's inputs; the problem is kept by reference. The peers that it has for it, each run already.
  [[nodiscard]] Result<std::vector<ProcessPeer>> prepare(DeviceProblem& problem);
  // One launch on outputs that held `poison` in every byte: what the slots that are written hold, as
  // DeviceProblem::download_written has it.
  [[nodiscard]] Result<std::vector<HostTensor>> run(std::string_view peer, int poison, std::string& outside);

  // For the copy of so many bytes that both processes time (kCopy) there is no case.
  static constexpr std::string_view kCopy = "copy";
  [[nodiscard]] Status prepare_copy(std::size_t bytes);

  // `unsupported` where it is not timed in this mode. Graphs and the flush are made here.
  [[nodiscard]] Status set_mode(std::string_view peer, TimeMode mode);
  // Microseconds of one launch in that mode.
  [[nodiscard]] Result<double> time(std::string_view peer);

 private:
  struct Talk;  // in JSON
  PeerProcess(PeerFiles files, ChildProcess child, double limit_s)
      : files_(std::move(files)), child_(std::move(child)), limit_s_(limit_s) {}

  PeerFiles files_;  // outlives the child
  ChildProcess child_;
  double limit_s_ = 0;
  bool compile_ = false;
  int asked_ = 0;
  std::string version_;
  DeviceProblem* problem_ = nullptr;
};

}  // namespace rooftile::lab
