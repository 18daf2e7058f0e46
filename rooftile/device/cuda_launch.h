// The CUDA side of launch(): see device/launch.h.
#pragma once

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <source_location>
#include <string>
#include <string_view>

#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::detail {

struct CudaLaunch {
  const void* kernel;
  dim3 grid;
  dim3 block;
  dim3 cluster;
  std::size_t shared_bytes;
  StreamRef stream;
  bool cooperative;
  bool dependent;
  void** arguments;
};

// Makes a device current while it lives.
class CurrentDeviceGuard {
 public:
  explicit CurrentDeviceGuard(int device) {
    error_ = cudaGetDevice(&previous_);
    if (error_ == cudaSuccess && previous_ != device) {
      error_ = cudaSetDevice(device);
      changed_ = error_ == cudaSuccess;
    }
  }
  ~CurrentDeviceGuard() {
    if (changed_) static_cast<void>(cudaSetDevice(previous_));
  }
  CurrentDeviceGuard(const CurrentDeviceGuard&) = delete;
  CurrentDeviceGuard& operator=(const CurrentDeviceGuard&) = delete;
  [[nodiscard]] cudaError_t error() const { return error_; }

 private:
  int previous_ = 0;
  bool changed_ = false;
  cudaError_t error_ = cudaSuccess;
};

inline std::string kernel_name(const void* kernel) {
  const bool was_pending = cudaPeekAtLastError() != cudaSuccess;
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess || mangled == nullptr) {
    if (!was_pending) static_cast<void>(cudaGetLastError());
    return "a kernel";
  }
  int status = 0;
  char* readable = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 && readable != nullptr ? readable : mangled;
  std::free(readable);
  return name;
}

inline std::string describe(const CudaLaunch& call) {
  const auto text = [](dim3 d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  };
  return kernel_name(call.kernel) + " with grid " + text(call.grid) + " block " + text(call.block) + " and " +
         std::to_string(call.shared_bytes) + " bytes of dynamic shared memory";
}

// A failure of ours: reported, and no longer pending.
inline Status launch_error(cudaError_t error, const std::string& what,
                           std::source_location where = std::source_location::current()) {
  static_cast<void>(cudaGetLastError());
  return cuda_error_status(error, what, where);
}

// Whether every launch is followed by a synchronisation, so
// that a fault is reported by the kernel that caused it.
inline bool synchronous_launches() {
  static const bool on = [] {
    const char* text = std::getenv("ROOFTILE_SYNC_LAUNCH");
    return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
  }();
  return on;
}

// A kernel may use 48 KB of shared memory unless its limit is raised. It is raised to all that the device has
// and never lowered, because another thread may launch the same kernel with more.
inline Status raise_shared_limit(const CudaLaunch& call) {
  if (call.shared_bytes == 0) return {};
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, call.kernel); error != cudaSuccess) {
    return launch_error(error, "reading the attributes of " + describe(call));
  }
  if (call.shared_bytes <= static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) return {};
  int device_limit = 0;
  const cudaError_t query = cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                                   call.stream.device.index);
  if (query != cudaSuccess)
    return launch_error(query, "reading the shared-memory limit of " + to_string(call.stream.device));
  if (call.shared_bytes + attributes.sharedSizeBytes > static_cast<std::size_t>(device_limit)) {
    return invalid_argument("launching " + describe(call) + ": with its " +
                            std::to_string(attributes.sharedSizeBytes) +
                            " static bytes that is more than the " + std::to_string(device_limit) +
                            " that a block of " + to_string(call.stream.device) + " may use");
  }
  const cudaError_t raised =
      cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           device_limit - static_cast<int>(attributes.sharedSizeBytes));
  if (raised != cudaSuccess)
    return launch_error(raised, "raising the shared-memory limit of " + describe(call));
  return {};
}

// More than 8 blocks are not portable to every device with clusters, and have to be asked for.
inline Status allow_large_cluster(const CudaLaunch& call) {
  constexpr unsigned kPortableClusterBlocks = 8;
  if (call.cluster.x * call.cluster.y * call.cluster.z <= kPortableClusterBlocks) return {};
  const cudaError_t error =
      cudaFuncSetAttribute(call.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (error != cudaSuccess) {
    return launch_error(error, "allowing clusters of more than 8 blocks for " + describe(call));
  }
  return {};
}

inline Status synchronize_after_launch(const CudaLaunch& call) {
  const auto stream = static_cast<cudaStream_t>(call.stream.handle);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &capture); error != cudaSuccess) {
    return launch_error(error, "asking whether the stream of " + describe(call) + " is captured");
  }
  if (capture != cudaStreamCaptureStatusNone) return {};
  if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) {
    return launch_error(error, "running " + describe(call));
  }
  return {};
}

inline Status launch_on_cuda(const CudaLaunch& call) {
  if (call.stream.device.kind != DeviceKind::cuda) {
    return invalid_argument("a launch on a GPU got a stream of " + to_string(call.stream.device) +
                            ": set LaunchConfig::stream");
  }
  if (call.grid.x == 0 || call.grid.y == 0 || call.grid.z == 0 || call.block.x == 0 || call.block.y == 0 ||
      call.block.z == 0) {
    return invalid_argument(
        "launching " + describe(call) +
        ": a launch needs at least one block and one thread; handle empty input before it");
  }
  if (const cudaError_t pending = cudaPeekAtLastError(); pending != cudaSuccess) {
    return cuda_error_status(pending, "a CUDA error was already pending before the launch of " +
                                          describe(call) + "; nothing was launched");
  }
  const CurrentDeviceGuard device(call.stream.device.index);
  if (device.error() != cudaSuccess) {
    return launch_error(device.error(), "making " + to_string(call.stream.device) + " current");
  }
  ROOFTILE_TRY(raise_shared_limit(call));

  std::array<cudaLaunchAttribute, 3> attributes{};
  unsigned count = 0;
  if (call.cluster.x != 1 || call.cluster.y != 1 || call.cluster.z != 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = call.cluster.x;
    attributes[count].val.clusterDim.y = call.cluster.y;
    attributes[count].val.clusterDim.z = call.cluster.z;
    ++count;
    ROOFTILE_TRY(allow_large_cluster(call));
  }
  if (call.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count].val.cooperative = 1;
    ++count;
  }
  if (call.dependent) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count].val.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = call.grid;
  config.blockDim = call.block;
  config.dynamicSmemBytes = call.shared_bytes;
  config.stream = static_cast<cudaStream_t>(call.stream.handle);
  config.attrs = attributes.data();
  config.numAttrs = count;
  if (const cudaError_t error = cudaLaunchKernelExC(&config, call.kernel, call.arguments);
      error != cudaSuccess) {
    return launch_error(error, "launching " + describe(call));
  }
  return synchronous_launches() ? synchronize_after_launch(call) : Status{};
}

}  // namespace rooftile::detail
