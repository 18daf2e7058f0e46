#include "rooftile/core/context.h"

#include <memory>
#include <string>
#include <utility>

namespace rooftile {
namespace {

constexpr const char* kCaptured =
    "the stream is being captured and a graph keeps its addresses: make an OwnedWorkspace before the capture";

}  // namespace

struct Context::Impl {
  Device device;
  const DeviceProperties* properties = nullptr;
  // In this order: the pool goes before the stream that its last releases wait for.
  Stream stream;
  MemoryPool pool;
  Workspace workspace;
  std::uint32_t* error_word = nullptr;
  PinnedMemory error_copy;  // where check() reads the error word

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    (void)discard();
    (void)pool.release(stream.ref(), error_word);
    (void)stream.synchronize();
  }

  Status discard() {
    void* const data = std::exchange(workspace.data, nullptr);
    void* const zeroed = std::exchange(workspace.zeroed, nullptr);
    workspace = {};
    const Status first = pool.release(stream.ref(), data);
    const Status second = pool.release(stream.ref(), zeroed);
    return first.ok() ? second : first;
  }

  Status grow_data(std::size_t bytes) {
    if (workspace.bytes >= bytes) return {};
    workspace.bytes = 0;
    ROOFTILE_TRY(pool.release(stream.ref(), std::exchange(workspace.data, nullptr)));
    ROOFTILE_TRY_ASSIGN(workspace.data, pool.allocate(stream.ref(), bytes));
    workspace.bytes = bytes;
    return {};
  }

  Status grow_zeroed(std::size_t bytes) {
    if (workspace.zeroed_bytes >= bytes) return {};
    workspace.zeroed_bytes = 0;
    ROOFTILE_TRY(pool.release(stream.ref(), std::exchange(workspace.zeroed, nullptr)));
    ROOFTILE_TRY_ASSIGN(workspace.zeroed, pool.allocate(stream.ref(), bytes));
    // zeroed_bytes stays 0 when this fails, so that the next call allocates and clears again.
    ROOFTILE_TRY(fill_bytes(stream.ref(), workspace.zeroed, 0, bytes));
    workspace.zeroed_bytes = bytes;
    return {};
  }
};

Context::~Context() { delete impl_; }

Result<Context> Context::create(Device device) {
  auto impl = std::make_unique<Impl>();
  impl->device = device;
  ROOFTILE_TRY_ASSIGN(impl->properties, device_properties(device));
  ROOFTILE_TRY_ASSIGN(impl->stream, Stream::create(device));
  ROOFTILE_TRY_ASSIGN(impl->pool, MemoryPool::create(device));
  ROOFTILE_TRY_ASSIGN(impl->error_copy, PinnedMemory::allocate(device, sizeof(std::uint32_t)));
  ROOFTILE_TRY_ASSIGN(void* word, impl->pool.allocate(impl->stream.ref(), sizeof(std::uint32_t)));
  impl->error_word = static_cast<std::uint32_t*>(word);
  ROOFTILE_TRY(fill_bytes(impl->stream.ref(), word, 0, sizeof(std::uint32_t)));
  // A kernel in another stream may be given the error word.
  ROOFTILE_TRY(impl->stream.synchronize());
  return Context(impl.release());
}

Device Context::device() const { return impl_->device; }
const DeviceProperties& Context::properties() const { return *impl_->properties; }
StreamRef Context::stream() const { return impl_->stream.ref(); }
std::uint32_t* Context::error_word() const { return impl_->error_word; }

Result<Workspace> Context::workspace(const WorkspaceSpec& spec) {
  if (spec.bytes == 0 && spec.zeroed_bytes == 0) return Workspace{};
  ROOFTILE_TRY_ASSIGN(const bool capturing, is_capturing(stream()));
  if (capturing) return invalid_argument(kCaptured);
  ROOFTILE_TRY(impl_->grow_data(spec.bytes));
  ROOFTILE_TRY(impl_->grow_zeroed(spec.zeroed_bytes));
  return impl_->workspace;
}

Status Context::discard_workspace() { return impl_->discard(); }

Status Context::synchronize() { return impl_->stream.synchronize(); }

Status Context::check() {
  auto* const found = static_cast<std::uint32_t*>(impl_->error_copy.data());
  constexpr std::size_t kBytes = sizeof(std::uint32_t);
  ROOFTILE_TRY(copy(stream(), found, kCpu, impl_->error_word, device(), kBytes));
  ROOFTILE_TRY(synchronize());
  if (*found == 0) return {};
  ROOFTILE_TRY(fill_bytes(stream(), impl_->error_word, 0, kBytes));
  ROOFTILE_TRY(synchronize());
  return Status::error(
      StatusCode::device_error,
      "a kernel met input that only the device can see is wrong, such as an index out of range "
      "(error word " +
          std::to_string(*found) + "): check the values of the inputs");
}

Result<OwnedWorkspace> OwnedWorkspace::create(StreamRef stream, const WorkspaceSpec& spec) {
  ROOFTILE_TRY_ASSIGN(const bool capturing, is_capturing(stream));
  if (capturing) return invalid_argument(kCaptured);
  OwnedWorkspace owned;
  ROOFTILE_TRY_ASSIGN(owned.data_, DeviceMemory::allocate(stream.device, spec.bytes));
  ROOFTILE_TRY_ASSIGN(owned.zeroed_, DeviceMemory::allocate(stream.device, spec.zeroed_bytes));
  ROOFTILE_TRY(fill_bytes(stream, owned.zeroed_.data(), 0, spec.zeroed_bytes));
  ROOFTILE_TRY(rooftile::synchronize(stream));
  owned.workspace_ = {owned.data_.data(), spec.bytes, owned.zeroed_.data(), spec.zeroed_bytes};
  return owned;
}

}  // namespace rooftile
