// The CUDA runtime behind core/: compiled where CMake found a toolkit.
//
// Two rules hold for every call here. The calling thread's current device is the same afterwards. And the
// runtime's last error, of which there is one per thread, is the same afterwards: our failure is reported by
// a Status and cleared, somebody else's error that was pending stays pending and is not blamed on us.
#include <cuda_runtime_api.h>

#include <string>
#include <system_error>
#include <thread>

#include "rooftile/core/detail/backend.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/detail/fault.h"
#include "rooftile/core/detail/host_memory.h"

static_assert(CUDART_VERSION >= 12000,
              "Rooftile needs CUDA 12 or newer: install a newer toolkit or configure with the cpu preset");

namespace rooftile::detail {
namespace {

constexpr int kAnyDevice = -1;  // a call that does not depend on the current device

struct Outcome {
  cudaError_t error = cudaSuccess;
  cudaError_t pending = cudaSuccess;  // of somebody else, before the call

  [[nodiscard]] bool ok() const { return error == cudaSuccess; }
};

Status status_of(const Outcome& outcome, std::string_view what,
                 SourceLocation where = SourceLocation::current()) {
  if (outcome.ok()) return {};
  std::string text(what);
  // A broken context answers every call with the error that broke it.
  if (outcome.error == outcome.pending) text += " (after an earlier failure of this program on the GPU)";
  return cuda_error_status(static_cast<int>(outcome.error), text, where);
}

template <class Call>
cudaError_t with_current_device(int device, Call& call) {
  if (device == kAnyDevice) return call();
  int previous = 0;
  cudaError_t error = cudaGetDevice(&previous);
  if (error != cudaSuccess) return error;
  if (previous == device) return call();
  error = cudaSetDevice(device);
  if (error == cudaSuccess) error = call();
  const cudaError_t restored = cudaSetDevice(previous);
  return error != cudaSuccess ? error : restored;
}

// Runs `call` where it stands: for capture, which belongs to the calling thread.
template <class Call>
Outcome run_in_place(int device, Call&& call) {
  Outcome outcome;
  outcome.pending = cudaPeekAtLastError();
  outcome.error = with_current_device(device, call);
  if (!outcome.ok() && outcome.pending == cudaSuccess) (void)cudaGetLastError();
  return outcome;
}

template <class Call>
Outcome run(int device, Call&& call) {
  const cudaError_t pending = cudaPeekAtLastError();
  if (pending == cudaSuccess) return run_in_place(device, call);
  // A failure of ours would overwrite the pending error, and no
  // call restores one: use a thread with a last error of its own.
  Outcome outcome;
  try {
    std::thread([&] { outcome = run_in_place(device, call); }).join();
  } catch (const std::system_error&) {
    outcome = run_in_place(device, call);
  }
  outcome.pending = pending;
  return outcome;
}

// For what must work while this thread captures some stream and is no part of the capture: without this an
// allocation, or the destructor of an unrelated object, would invalidate the capture and fail.
template <class Call>
Outcome run_beside_capture(int device, Call&& call) {
  return run(device, [&]() -> cudaError_t {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode);
    if (error != cudaSuccess) return error;
    error = call();
    const cudaError_t restored = cudaThreadExchangeStreamCaptureMode(&mode);
    return error != cudaSuccess ? error : restored;
  });
}

cudaStream_t stream_of(StreamRef stream) { return static_cast<cudaStream_t>(stream.handle); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

Status allocation_status(const Outcome& outcome, std::size_t bytes, const std::string& place) {
  if (outcome.error == cudaErrorMemoryAllocation) {
    return Status::error(
        StatusCode::out_of_memory,
        format_bytes(bytes) + " " + place + " cannot be allocated: free some, or use a smaller shape");
  }
  return status_of(outcome, "allocating " + format_bytes(bytes) + " " + place);
}

// `call` stores the address and answers a cudaError_t.
template <class Call>
Result<void*> allocate_by(Device device, std::size_t bytes, const std::string& place, Call&& call) {
  if (take_allocation_fault())
    return allocation_status({cudaErrorMemoryAllocation, cudaSuccess}, bytes, place);
  void* data = nullptr;
  const Outcome outcome = run_beside_capture(device.index, [&] { return call(&data); });
  if (!outcome.ok()) return allocation_status(outcome, bytes, place);
  return data;
}

std::string_view difference(cudaGraphExecUpdateResult result) {
  switch (result) {
    case cudaGraphExecUpdateErrorTopologyChanged:
      return "its nodes are connected otherwise";
    case cudaGraphExecUpdateErrorNodeTypeChanged:
      return "a node is of another type";
    case cudaGraphExecUpdateErrorFunctionChanged:
    case cudaGraphExecUpdateErrorUnsupportedFunctionChange:
      return "a node runs another kernel";
    case cudaGraphExecUpdateErrorParametersChanged:
      return "a node's parameters changed in a way that CUDA cannot take over";
    case cudaGraphExecUpdateErrorAttributesChanged:
      return "a node's attributes changed";
    case cudaGraphExecUpdateErrorNotSupported:
      return "a node of it cannot be updated";
    default:
      return "CUDA does not say what differs";
  }
}

class CudaBackend final : public GpuBackend {
 public:
  Result<DeviceProperties> properties(Device device) override {
    cudaDeviceProp cuda{};
    int clock_khz = 0;
    int bus_bits = 0;
    DeviceProperties properties;
    const Outcome outcome = run_beside_capture(kAnyDevice, [&]() -> cudaError_t {
      cudaError_t error = cudaGetDeviceProperties(&cuda, device.index);
      if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device.index);
      if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device.index);
      if (error == cudaSuccess) error = cudaDriverGetVersion(&properties.driver_version);
      if (error == cudaSuccess) error = cudaRuntimeGetVersion(&properties.runtime_version);
      return error;
    });
    if (!outcome.ok()) return status_of(outcome, "reading the properties of " + to_string(device));
    properties.device = device;
    properties.name = cuda.name;
    properties.compute_capability = 10 * cuda.major + cuda.minor;
    properties.multiprocessors = cuda.multiProcessorCount;
    properties.max_threads_per_block = cuda.maxThreadsPerBlock;
    properties.max_threads_per_multiprocessor = cuda.maxThreadsPerMultiProcessor;
    properties.shared_memory_per_block = cuda.sharedMemPerBlockOptin;
    properties.last_level_cache = static_cast<std::size_t>(cuda.l2CacheSize);
    properties.memory_bytes = cuda.totalGlobalMem;
    // Two transfers per clock, as every GPU memory since GDDR does.
    properties.peak_bandwidth_gbps = 2.0 * clock_khz * 1e3 * (bus_bits / 8.0) * 1e-9;
    return properties;
  }

  Result<void*> allocate(Device device, std::size_t bytes) override {
    return allocate_by(device, bytes, "of memory on " + to_string(device),
                       [&](void** data) { return cudaMalloc(data, bytes); });
  }
  void free(Device device, void* data) override {
    (void)run_beside_capture(device.index, [&] { return cudaFree(data); });
  }
  Result<void*> allocate_pinned(Device device, std::size_t bytes) override {
    return allocate_by(device, bytes, "of pinned host memory",
                       [&](void** data) { return cudaHostAlloc(data, bytes, cudaHostAllocPortable); });
  }
  void free_pinned(Device device, void* data) override {
    (void)run_beside_capture(device.index, [&] { return cudaFreeHost(data); });
  }

  Result<void*> create_pool(Device device) override {
    int supported = 0;
    cudaMemPool_t pool = nullptr;
    const Outcome outcome = run_beside_capture(device.index, [&]() -> cudaError_t {
      cudaError_t error = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device.index);
      if (error != cudaSuccess || supported == 0) return error;
      cudaMemPoolProps props{};
      props.allocType = cudaMemAllocationTypePinned;
      props.handleTypes = cudaMemHandleTypeNone;
      props.location.type = cudaMemLocationTypeDevice;
      props.location.id = device.index;
      error = cudaMemPoolCreate(&pool, &props);
      if (error != cudaSuccess) return error;
      // Without a threshold the pool gives its memory back at every synchronisation and maps it anew.
      unsigned long long threshold = ~0ull;
      error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
      if (error != cudaSuccess) (void)cudaMemPoolDestroy(pool);
      return error;
    });
    if (!outcome.ok()) return status_of(outcome, "creating a memory pool on " + to_string(device));
    if (supported == 0)
      return unsupported(to_string(device) +
                         " has no stream-ordered memory pools: its driver does not offer them");
    return static_cast<void*>(pool);
  }
  void destroy_pool(Device device, void* pool) override {
    (void)run_beside_capture(device.index,
                             [&] { return cudaMemPoolDestroy(static_cast<cudaMemPool_t>(pool)); });
  }
  Result<void*> pool_allocate(void* pool, StreamRef stream, std::size_t bytes) override {
    return allocate_by(stream.device, bytes, "of memory on " + to_string(stream.device), [&](void** data) {
      return cudaMallocFromPoolAsync(data, bytes, static_cast<cudaMemPool_t>(pool), stream_of(stream));
    });
  }
  Status pool_release(StreamRef stream, void* data) override {
    return status_of(
        run_beside_capture(stream.device.index, [&] { return cudaFreeAsync(data, stream_of(stream)); }),
        "releasing pool memory");
  }

  Status copy(StreamRef stream, void* destination, Device destination_device, const void* source,
              Device source_device, std::size_t bytes) override {
    const bool between_gpus = destination_device.kind == DeviceKind::cuda &&
                              source_device.kind == DeviceKind::cuda && destination_device != source_device;
    const Outcome outcome = run(stream.device.index, [&]() -> cudaError_t {
      if (between_gpus) {
        return cudaMemcpyPeerAsync(destination, destination_device.index, source, source_device.index, bytes,
                                   stream_of(stream));
      }
      return cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream_of(stream));
    });
    return status_of(outcome, "copying " + format_bytes(bytes) + " from " + to_string(source_device) +
                                  " to " + to_string(destination_device));
  }
  Status fill(StreamRef stream, void* data, int value, std::size_t bytes) override {
    return status_of(
        run(stream.device.index, [&] { return cudaMemsetAsync(data, value, bytes, stream_of(stream)); }),
        "filling " + format_bytes(bytes) + " on " + to_string(stream.device));
  }

  Result<void*> create_stream(Device device) override {
    cudaStream_t stream = nullptr;
    const Outcome outcome = run_beside_capture(
        device.index, [&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
    if (!outcome.ok()) return status_of(outcome, "creating a stream on " + to_string(device));
    return static_cast<void*>(stream);
  }
  void destroy_stream(StreamRef stream) override {
    (void)run_beside_capture(stream.device.index, [&] { return cudaStreamDestroy(stream_of(stream)); });
  }
  Status synchronize(StreamRef stream) override {
    return status_of(
        run_beside_capture(stream.device.index, [&] { return cudaStreamSynchronize(stream_of(stream)); }),
        "waiting for a stream of " + to_string(stream.device));
  }
  Result<bool> is_capturing(StreamRef stream) override {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const Outcome outcome =
        run(stream.device.index, [&] { return cudaStreamIsCapturing(stream_of(stream), &capture); });
    if (!outcome.ok()) return status_of(outcome, "asking whether a stream is captured");
    return capture != cudaStreamCaptureStatusNone;
  }

  Result<Device> device_of(void* stream) override {
    int index = 0;
    const Outcome outcome = run_beside_capture(kAnyDevice, [&]() -> cudaError_t {
#if CUDART_VERSION >= 12080
      if (stream != nullptr) return cudaStreamGetDevice(static_cast<cudaStream_t>(stream), &index);
#endif
      return cudaGetDevice(&index);
    });
    if (!outcome.ok()) return status_of(outcome, "asking for the device of a stream");
    return cuda_device(index);
  }

  Result<void*> create_event(Device device) override {
    cudaEvent_t event = nullptr;
    const Outcome outcome = run_beside_capture(device.index, [&] { return cudaEventCreate(&event); });
    if (!outcome.ok()) return status_of(outcome, "creating an event on " + to_string(device));
    return static_cast<void*>(event);
  }
  void destroy_event(Device device, void* event) override {
    (void)run_beside_capture(device.index, [&] { return cudaEventDestroy(event_of(event)); });
  }
  Status record_event(void* event, StreamRef stream) override {
    return status_of(
        run(stream.device.index, [&] { return cudaEventRecord(event_of(event), stream_of(stream)); }),
        "recording an event");
  }
  Status synchronize_event(Device device, void* event) override {
    return status_of(run(device.index, [&] { return cudaEventSynchronize(event_of(event)); }),
                     "waiting for an event");
  }
  Status block_on_event(StreamRef stream, void* event) override {
    return status_of(
        run(stream.device.index, [&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0); }),
        "making a stream wait for an event");
  }
  Result<double> elapsed_us(Device device, void* start, void* stop) override {
    float milliseconds = 0;
    const Outcome outcome = run(
        device.index, [&] { return cudaEventElapsedTime(&milliseconds, event_of(start), event_of(stop)); });
    if (outcome.error == cudaErrorInvalidResourceHandle) {
      return invalid_argument("both events must be recorded before their time is asked");
    }
    if (outcome.error == cudaErrorNotReady) {
      return invalid_argument("an event is not reached yet: synchronize it before its time is asked");
    }
    if (!outcome.ok()) return status_of(outcome, "reading the time between two events");
    return static_cast<double>(milliseconds) * 1e3;
  }

  Status begin_capture(StreamRef stream) override {
    // Thread-local: what other threads do at the same time is neither captured nor forbidden.
    const Outcome outcome = run_in_place(stream.device.index, [&] {
      return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal);
    });
    return status_of(outcome, "beginning a capture");
  }
  Result<void*> end_capture(StreamRef stream) override {
    cudaGraph_t graph = nullptr;
    const Outcome outcome =
        run_in_place(stream.device.index, [&] { return cudaStreamEndCapture(stream_of(stream), &graph); });
    if (!outcome.ok()) return status_of(outcome, "ending a capture");
    return static_cast<void*>(graph);
  }
  void destroy_graph(void* graph) override {
    (void)run_beside_capture(kAnyDevice, [&] { return cudaGraphDestroy(static_cast<cudaGraph_t>(graph)); });
  }
  Result<void*> instantiate(void* graph) override {
    cudaGraphExec_t exec = nullptr;
    const Outcome outcome = run_beside_capture(
        kAnyDevice, [&] { return cudaGraphInstantiate(&exec, static_cast<cudaGraph_t>(graph), 0); });
    if (!outcome.ok()) return status_of(outcome, "instantiating a graph");
    return static_cast<void*>(exec);
  }
  Status launch_graph(void* exec, StreamRef stream) override {
    return status_of(
        run(stream.device.index,
            [&] { return cudaGraphLaunch(static_cast<cudaGraphExec_t>(exec), stream_of(stream)); }),
        "launching a graph");
  }
  Status update_graph(void* exec, void* graph) override {
    cudaGraphExecUpdateResultInfo info{};
    const Outcome outcome = run_beside_capture(kAnyDevice, [&] {
      return cudaGraphExecUpdate(static_cast<cudaGraphExec_t>(exec), static_cast<cudaGraph_t>(graph), &info);
    });
    if (outcome.error == cudaErrorGraphExecUpdateFailure) {
      return invalid_argument("the graph cannot take over the new one (" +
                              std::string(difference(info.result)) + "): instantiate the new one instead");
    }
    return status_of(outcome, "updating a graph");
  }
  void destroy_graph_exec(void* exec) override {
    (void)run_beside_capture(kAnyDevice,
                             [&] { return cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(exec)); });
  }
};

std::string format_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status probe_failure(const Outcome& outcome) {
  int driver = 0;
  int runtime = 0;
  (void)run(kAnyDevice, [&]() -> cudaError_t {
    const cudaError_t error = cudaDriverGetVersion(&driver);
    return error != cudaSuccess ? error : cudaRuntimeGetVersion(&runtime);
  });
  const std::string needed = format_version(runtime != 0 ? runtime : CUDART_VERSION);
  switch (outcome.error) {
    case cudaErrorInsufficientDriver:
      if (driver == 0)
        return unavailable("no NVIDIA driver is installed: install one that supports CUDA " + needed);
      return unavailable("the NVIDIA driver supports CUDA " + format_version(driver) +
                         " and this program needs " + needed + ": install a newer driver");
    case cudaErrorNoDevice:
    case cudaSuccess:
      return unavailable("the NVIDIA driver sees no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES");
    default:
      return unavailable("the NVIDIA driver does not start (" +
                         std::string(cudaGetErrorString(outcome.error)) +
                         "): check nvidia-smi, and reboot after a driver update");
  }
}

CudaProbe probe() {
  CudaProbe result;
  int devices = 0;
  const Outcome outcome = run(kAnyDevice, [&] { return cudaGetDeviceCount(&devices); });
  if (outcome.ok() && devices > 0) {
    result.devices = devices;
  } else {
    result.status = probe_failure(outcome);
  }
  return result;
}

Status first_device_status() {
  if (!cuda_probe().status.ok()) return cuda_probe().status;
  // cudaFree of null does nothing but make the context.
  const Outcome outcome = run_beside_capture(0, [] { return cudaFree(nullptr); });
  if (outcome.ok()) return {};
  return unavailable("cuda:0 is there but cannot be used (" + std::string(cudaGetErrorString(outcome.error)) +
                     "): check nvidia-smi for its compute mode, memory and health");
}

}  // namespace

// None of these is ever destroyed: a Context with static lifetime may outlive them otherwise.

GpuBackend* cuda_backend() {
  static GpuBackend* const backend = new CudaBackend;
  return backend;
}

const CudaProbe& cuda_probe() {
  static const CudaProbe& result = *new CudaProbe(probe());
  return result;
}

const Status& cuda_first_device_status() {
  static const Status& status = *new Status(first_device_status());
  return status;
}

}  // namespace rooftile::detail
