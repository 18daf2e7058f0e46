// What the tests of the checked build share.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <vector>

#include "rooftile/core/stream.h"
#include "rooftile/sim/checked/session.h"
#include "rooftile/sim/config.h"
#include "tests/checked/kernels.h"
#include "tests/sim/lane_orders.h"

namespace rooftile::checked_testing {

using simt::checked::AccessCounts;
using simt::checked::AccessKind;
using simt::checked::Buffer;
using simt::checked::MemorySpace;
using simt::checked::Report;
using simt::checked::Session;
using simt::checked::SessionOptions;

inline const StreamRef kStream{kSim, nullptr};

// Memory that starts at a multiple of 256 bytes, as device memory does.
template <class T>
struct DeviceAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{256};
  DeviceAllocator() = default;
  template <class U>
  explicit DeviceAllocator(const DeviceAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  friend bool operator==(const DeviceAllocator&, const DeviceAllocator&) { return true; }
};
template <class T>
using DeviceVector = std::vector<T, DeviceAllocator<T>>;

inline ::testing::AssertionResult is_ok(const Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.message();
}

// What a watched run of `body` tells; `status`, where given, gets the result of the launch.
inline Report watch(const SessionOptions& options, const std::vector<Buffer>& buffers,
                    const std::function<Status()>& body, Status* status = nullptr) {
  Result<std::unique_ptr<Session>> session = Session::start(options);
  if (!session.ok()) {
    ADD_FAILURE() << session.status().message();
    return {};
  }
  for (const Buffer& buffer : buffers) (*session)->add_buffer(buffer);
  const Status result = body();
  if (status != nullptr) {
    *status = result;
  } else {
    EXPECT_TRUE(is_ok(result));
  }
  return (*session)->finish();
}

template <class Vector>
Buffer input(const char* name, const Vector& data) {
  return {name, data.data(), data.size() * sizeof(data[0]), true};
}
template <class Vector>
Buffer output(const char* name, const Vector& data) {
  return {name, data.data(), data.size() * sizeof(data[0]), false};
}

inline std::string describe(const Report& report) {
  std::string text;
  for (const auto& finding : report.findings) {
    text += std::string(to_string(finding.kind)) + " in " + finding.kernel + " at " + to_string(finding.at) +
            ": " + finding.what + " (" + std::to_string(finding.count) + " times)\n";
  }
  return text;
}

}  // namespace rooftile::checked_testing
