// What a Context is made of: for its own functions, and those of Graph and Tensor.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/detail/arena.h"
#include "rooftile/core/detail/last_call.h"

namespace rooftile {

struct Context::Impl {
  const DeviceProperties* properties = nullptr;
  std::shared_ptr<detail::Arena> arena;
  Workspace workspace;
  PinnedMemory error_copy;  // where check() reads the error word
  // After reserve(): released workspaces stay until the end, for graphs that have their addresses.
  bool keeps = false;
  std::vector<void*> kept;
  // While Graph::record runs: the workspaces that the graph will own.
  bool recording = false;
  std::vector<OwnedWorkspace> recorded;
  std::unique_ptr<Context> host;  // of a GPU's Context: serves calls on the CPU
  std::atomic<bool> used = false;
  detail::LastCall last_call;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Status release(void* data);
  Status discard();
  Status grow_data(std::size_t bytes);
  Status grow_zeroed(std::size_t bytes);
  Result<Workspace> recorded_workspace(const WorkspaceSpec& spec);
};

// A Context's parts without a call for each.
struct ContextParts {
  static bool is_there(const Context& context) { return context.impl_ != nullptr; }
  static const Context::Impl& of(const Context& context) { return *context.impl_; }  // precondition: is there
  static Context::Impl& of(Context& context) { return *context.impl_; }              // the same
};

// A call's use of a Context: a debug build of the library aborts where a second thread uses it meanwhile.
class ContextUse {
 public:
#if defined(NDEBUG)
  explicit ContextUse(Context&) {}
#else
  explicit ContextUse(Context& context);
  ~ContextUse();
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;

 private:
  Context::Impl* used_ = nullptr;
#endif
};

}  // namespace rooftile
