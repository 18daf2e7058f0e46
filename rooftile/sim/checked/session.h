// Watches launches of checked kernels: the entrance for hosts.
//
//   auto session = Session::start({.metrics = true});
//   session->add_buffer({"in", data, bytes, .initialised = true});
//   ... launch ...
//   Report report = session->finish();
//
// Kernels of the `checked` target, built with instrumented accesses, are seen access by access; of others
// only their synchronisation. There is one session at a time; launches and the session belong to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

struct SessionOptions {
  // Counts requests: the lanes of a warp run in lockstep, instruction by instruction. Several times slower.
  bool metrics = false;
  // Races, uninitialised reads, bounds.
  bool checks = true;
  // Barriers, fences and waits that are passed as if they were not there.
  std::vector<SourceLine> disabled{};
};

// Device memory that kernels may use. With no buffer at all, global memory is not checked.
struct Buffer {
  std::string name;
  const void* data = nullptr;
  std::size_t bytes = 0;
  bool initialised = false;  // at the start; kernels that write it initialise the rest
  bool read_only = false;    // a write is a finding; no races to look for
};

class SessionState;

class Session {
 public:
  // Fails where a session is open already.
  static Result<std::unique_ptr<Session>> start(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void add_buffer(const Buffer& buffer);
  // Ends the watching, and tells.
  [[nodiscard]] Report finish();

 private:
  explicit Session(const SessionOptions& options);
  std::unique_ptr<SessionState> state_;
};

// Whether checked kernels are linked into this program, and calls of their instrumentation since it started.
[[nodiscard]] bool has_checked_kernels();
[[nodiscard]] std::uint64_t instrumentation_calls();

}  // namespace rooftile::simt::checked
