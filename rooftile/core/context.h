// A Context: one device, one stream, and the workspace of the calls made through it.
//
// Used by one thread at a time; several Contexts per device are fine, each with a stream of its own.
#pragma once

#include <cstdint>
#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

class Context {
 public:
  static Result<Context> create(Device device = default_device());
  Context(Context&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Context();  // waits for the stream, then frees

  [[nodiscard]] Device device() const;
  [[nodiscard]] const DeviceProperties& properties() const;
  [[nodiscard]] StreamRef stream() const;

  // The Context's workspace, grown to cover `spec`: stream-ordered, no synchronisation;
  // the zeroed part is zero. Valid until the next call on this Context. Fails while the
  // stream is captured: a graph needs a workspace of its own (OwnedWorkspace), which
  // does not move. An empty spec gets an empty workspace, also under capture.
  [[nodiscard]] Result<Workspace> workspace(const WorkspaceSpec& spec);
  // Releases the workspace, so that the next call gets a fresh one: for after a call that failed half-way and
  // may have left something in the zeroed part.
  Status discard_workspace();

  // Where a kernel reports what only the device can see (an index out of range): one 32-bit word in device
  // memory, 0 when nothing happened.
  [[nodiscard]] std::uint32_t* error_word() const;

  [[nodiscard]] Status synchronize();
  // Synchronises; then an error if a kernel failed or wrote the error word, which is cleared.
  [[nodiscard]] Status check();

 private:
  struct Impl;
  explicit Context(Impl* impl) : impl_(impl) {}
  Impl* impl_ = nullptr;
};

// A workspace with memory of its own, for a captured graph or a caller that manages streams itself. Creation
// zeroes the zeroed part and waits for it.
class OwnedWorkspace {
 public:
  static Result<OwnedWorkspace> create(StreamRef stream, const WorkspaceSpec& spec);
  [[nodiscard]] const Workspace& get() const { return workspace_; }

 private:
  DeviceMemory data_;
  DeviceMemory zeroed_;
  Workspace workspace_;
};

}  // namespace rooftile
