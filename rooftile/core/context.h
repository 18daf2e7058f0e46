// A Context: one device, one stream, and the memory of the calls made through it.
//
//   Context context;                         // the GPU where there is one, else the CPU
//   auto mine = Context::on(cuda_stream);    // the caller's stream
//
// Used by one thread at a time (a debug build aborts where two meet); several Contexts per device are fine, each with a
// stream of its own. A Context of a GPU also serves calls whose tensors are all on the CPU: they run at once, on the
// calling thread.
#pragma once

#include <cstdint>
#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"

struct CUstream_st;  // what a cudaStream_t points to

namespace rooftile {

class Tensor;

class Context {
 public:
  struct Impl;  // of the library itself

  // Never fails by itself: a Context that could not be made refuses every call with the reason, which status() has.
  explicit Context(Device device = default_device());
  static Result<Context> create(Device device = default_device());
  // On a stream that the caller owns and keeps alive until the Context and its Tensors are gone. Of a cudaStream_t alone
  // the device is the one that is current when the stream's own cannot be asked (before CUDA 12.8).
  static Context on(StreamRef stream);
  static Context on(CUstream_st* stream);
  Context(Context&& other) noexcept
      : impl_(std::exchange(other.impl_, nullptr)), status_(std::move(other.status_)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(impl_, other.impl_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~Context();  // waits for the stream, then frees

  // Ok, or why there is no such Context.
  [[nodiscard]] Status status() const { return impl_ != nullptr ? Status() : missing(); }

  // Of a Context that is not ok: the CPU, and no properties.
  [[nodiscard]] Device device() const;
  [[nodiscard]] const DeviceProperties& properties() const;
  [[nodiscard]] StreamRef stream() const;

  // The Context's workspace, grown to cover `spec`: stream-ordered, no synchronisation; the zeroed part is zero. Valid
  // until the next call on this Context. While the stream is captured it does not grow: reserve() before, or record by
  // Graph::record, whose graph has a workspace of its own.
  [[nodiscard]] Result<Workspace> workspace(const WorkspaceSpec& spec);
  // Grows the workspace now and keeps its memory, and whatever it grows to later, until the Context goes: a graph that
  // was captured on the Context's stream keeps the addresses. Such a graph must not run beside other calls of the
  // Context.
  [[nodiscard]] Status reserve(const WorkspaceSpec& spec);
  // Releases the workspace, so that the next call gets a fresh one: for after a call that failed half-way and
  // may have left something in the zeroed part.
  Status discard_workspace();

  // Where a kernel reports what only the device can see (an index out of range): one 32-bit word in device
  // memory, 0 when nothing happened.
  [[nodiscard]] std::uint32_t* error_word() const;

  [[nodiscard]] Status synchronize();
  // Synchronises; then an error if a kernel failed or wrote the error word, which is cleared.
  [[nodiscard]] Status check();

  // The Context that serves calls on this device: this one, or of a GPU's Context its companion on the CPU. Null, and an
  // error, where there is none.
  [[nodiscard]] Result<Context*> serving(Device device);

 private:
  friend class Graph;
  friend class Tensor;
  friend class ContextUse;
  friend struct ContextParts;
  explicit Context(Impl* impl) : impl_(impl) {}
  static Result<Impl*> make(Device device, const StreamRef* stream);
  [[nodiscard]] Status missing() const;

  Impl* impl_ = nullptr;
  Status status_;  // of a Context that could not be made
};

// A workspace with memory of its own, for a caller that manages streams itself. Creation zeroes the zeroed part and
// waits for it.
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
