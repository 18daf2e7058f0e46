#include "rooftile/core/context.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/detail/backend.h"
#include "rooftile/core/detail/context_impl.h"
#include "rooftile/core/detail/guarded.h"

namespace rooftile {
namespace {

constexpr const char* kCaptured =
    "the stream is being captured and a graph keeps its addresses: Context::reserve() a workspace before the capture, "
    "or use Graph::record";

}  // namespace

Context::Impl::~Impl() {
  if (arena == nullptr) return;
  (void)discard();
  for (void* const data : kept) (void)arena->release(data);
  (void)rooftile::synchronize(arena->stream());
}

Status Context::Impl::release(void* data) {
  if (data == nullptr) return {};
  if (!keeps) return arena->release(data);
  kept.push_back(data);
  return {};
}

Status Context::Impl::discard() {
  const Workspace old = std::exchange(workspace, {});
  const Status first = release(old.data);
  const Status second = release(old.zeroed);
  return first.ok() ? second : first;
}

Status Context::Impl::grow_data(std::size_t bytes) {
  if (workspace.bytes >= bytes) return {};
  workspace.bytes = 0;
  ROOFTILE_TRY(release(std::exchange(workspace.data, nullptr)));
  ROOFTILE_TRY_ASSIGN(workspace.data, arena->allocate(bytes));
  workspace.bytes = bytes;
  return {};
}

Status Context::Impl::grow_zeroed(std::size_t bytes) {
  if (workspace.zeroed_bytes >= bytes) return {};
  workspace.zeroed_bytes = 0;
  ROOFTILE_TRY(release(std::exchange(workspace.zeroed, nullptr)));
  ROOFTILE_TRY_ASSIGN(workspace.zeroed, arena->allocate(bytes));
  // zeroed_bytes stays 0 when this fails, so that the next call allocates and clears again.
  ROOFTILE_TRY(fill_bytes(arena->stream(), workspace.zeroed, 0, bytes));
  workspace.zeroed_bytes = bytes;
  return {};
}

// The recording's own workspace, with memory that no call outside of the graph uses.
Result<Workspace> Context::Impl::recorded_workspace(const WorkspaceSpec& spec) {
  if (recorded.empty() || !recorded.back().get().covers(spec)) {
    ROOFTILE_TRY_ASSIGN(const Stream beside, Stream::create(arena->device()));
    ROOFTILE_TRY_ASSIGN(OwnedWorkspace owned, OwnedWorkspace::create(beside.ref(), spec));
    recorded.push_back(std::move(owned));
  }
  return recorded.back().get();
}

Result<Context::Impl*> Context::make(Device device, const StreamRef* stream) {
  return detail::guarded([&]() -> Result<Impl*> {
    ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
    auto impl = std::make_unique<Impl>();
    impl->properties = properties;
    ROOFTILE_TRY_ASSIGN(impl->arena, detail::Arena::create(device, stream));
    ROOFTILE_TRY_ASSIGN(impl->error_copy, PinnedMemory::allocate(device, sizeof(std::uint32_t)));
    return impl.release();
  });
}

Context::Context(Device device) {
  Result<Impl*> impl = make(device, nullptr);
  impl_ = impl.value_or(nullptr);
  status_ = impl.status();
}

Result<Context> Context::create(Device device) {
  Context context(device);
  if (!context.status().ok()) return context.status();
  return context;
}

Context Context::on(StreamRef stream) {
  Result<Impl*> impl = make(stream.device, &stream);
  Context context(impl.value_or(nullptr));
  context.status_ = impl.status();
  return context;
}

Context Context::on(CUstream_st* stream) {
  Context context(nullptr);
  if (detail::cuda_backend() == nullptr) {
    context.status_ = cuda_availability();
    return context;
  }
  const Result<Device> device = detail::cuda_backend()->device_of(stream);
  if (device.ok()) return on(StreamRef{*device, stream});
  context.status_ = device.status();
  return context;
}

Context::~Context() { delete impl_; }

Status Context::missing() const {
  if (!status_.ok()) return status_;
  return detail::guarded([] {
    return invalid_argument("the Context was moved from: use the one that it was moved to, or make another");
  });
}

Device Context::device() const { return impl_ != nullptr ? impl_->arena->device() : kCpu; }

const DeviceProperties& Context::properties() const {
  static const DeviceProperties kNone;
  return impl_ != nullptr ? *impl_->properties : kNone;
}

StreamRef Context::stream() const { return impl_ != nullptr ? impl_->arena->stream() : StreamRef{}; }

std::uint32_t* Context::error_word() const { return impl_ != nullptr ? impl_->arena->error_word() : nullptr; }

Result<Workspace> Context::workspace(const WorkspaceSpec& spec) {
  if (impl_ == nullptr) return missing();
  if (spec.bytes == 0 && spec.zeroed_bytes == 0) return Workspace{};
  return detail::guarded([&]() -> Result<Workspace> {
    if (impl_->recording) return impl_->recorded_workspace(spec);
    if (!impl_->workspace.covers(spec) || !impl_->keeps) {
      ROOFTILE_TRY_ASSIGN(const bool capturing, is_capturing(stream()));
      if (capturing) return invalid_argument(kCaptured);
    }
    ROOFTILE_TRY(impl_->grow_data(spec.bytes));
    ROOFTILE_TRY(impl_->grow_zeroed(spec.zeroed_bytes));
    return impl_->workspace;
  });
}

Status Context::reserve(const WorkspaceSpec& spec) {
  if (impl_ == nullptr) return missing();
  impl_->keeps = true;
  return workspace(spec).status();
}

Status Context::discard_workspace() {
  if (impl_ == nullptr) return missing();
  return detail::guarded([&] { return impl_->discard(); });
}

Status Context::synchronize() { return impl_ != nullptr ? rooftile::synchronize(stream()) : missing(); }

Status Context::check() {
  if (impl_ == nullptr) return missing();
  return detail::guarded([&]() -> Status {
    auto* const found = static_cast<std::uint32_t*>(impl_->error_copy.data());
    constexpr std::size_t kBytes = sizeof(std::uint32_t);
    ROOFTILE_TRY(copy(stream(), found, kCpu, error_word(), device(), kBytes));
    ROOFTILE_TRY(synchronize());
    if (*found == 0) return {};
    ROOFTILE_TRY(fill_bytes(stream(), error_word(), 0, kBytes));
    ROOFTILE_TRY(synchronize());
    return Status::error(
        StatusCode::device_error,
        "a kernel met input that only the device can see is wrong, such as an index out of range "
        "(error word " +
            std::to_string(*found) + "): check the values of the inputs");
  });
}

Result<Context*> Context::serving(Device device) {
  if (impl_ == nullptr) return missing();
  if (device == this->device()) return this;
  return detail::guarded([&]() -> Result<Context*> {
    if (device != kCpu || this->device().kind != DeviceKind::cuda) {
      return invalid_argument("the tensors are on " + to_string(device) + " and the Context is of " +
                              to_string(this->device()) + ": use a Context of their device, or copy them");
    }
    if (impl_->recording) {
      return invalid_argument(
          "tensors on the CPU in a recorded graph: it replays what runs on the GPU, so copy them there");
    }
    if (impl_->host == nullptr) impl_->host = std::make_unique<Context>(kCpu);
    ROOFTILE_TRY(impl_->host->status());
    return impl_->host.get();
  });
}

#if !defined(NDEBUG)
ContextUse::ContextUse(Context& context) : used_(context.impl_) {
  if (used_ == nullptr || !used_->used.exchange(true)) return;
  std::fputs(
      "rooftile: two calls use one Context at the same time: give each thread its own, and a task that may run "
      "while a call of its thread waits\n",
      stderr);
  std::abort();
}
ContextUse::~ContextUse() {
  if (used_ != nullptr) used_->used = false;
}
#endif

Result<OwnedWorkspace> OwnedWorkspace::create(StreamRef stream, const WorkspaceSpec& spec) {
  return detail::guarded([&]() -> Result<OwnedWorkspace> {
    ROOFTILE_TRY_ASSIGN(const bool capturing, is_capturing(stream));
    if (capturing) return invalid_argument(kCaptured);
    OwnedWorkspace owned;
    ROOFTILE_TRY_ASSIGN(owned.data_, DeviceMemory::allocate(stream.device, spec.bytes));
    ROOFTILE_TRY_ASSIGN(owned.zeroed_, DeviceMemory::allocate(stream.device, spec.zeroed_bytes));
    ROOFTILE_TRY(fill_bytes(stream, owned.zeroed_.data(), 0, spec.zeroed_bytes));
    ROOFTILE_TRY(rooftile::synchronize(stream));
    owned.workspace_ = {owned.data_.data(), spec.bytes, owned.zeroed_.data(), spec.zeroed_bytes};
    return owned;
  });
}

}  // namespace rooftile
