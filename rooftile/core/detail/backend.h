// What a kind of device does for memory, streams, events and graphs: the one place behind which CUDA stands.
//
// Two implementations: the host (cpu and sim, where work runs at once on the
// calling thread) and the CUDA runtime. Callers have checked their arguments:
// devices belong together, handles are not null, sizes are not zero.
#pragma once

#include <cstddef>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::detail {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Result<DeviceProperties> properties(Device device) = 0;

  virtual Result<void*> allocate(Device device, std::size_t bytes) = 0;
  virtual void free(Device device, void* data) = 0;
  virtual Result<void*> allocate_pinned(Device device, std::size_t bytes) = 0;
  virtual void free_pinned(Device device, void* data) = 0;

  // A pool's handle may be null on the host.
  virtual Result<void*> create_pool(Device device) = 0;
  virtual void destroy_pool(Device device, void* pool) = 0;
  virtual Result<void*> pool_allocate(void* pool, StreamRef stream, std::size_t bytes) = 0;
  virtual Status pool_release(StreamRef stream, void* data) = 0;

  virtual Status copy(StreamRef stream, void* destination, Device destination_device, const void* source,
                      Device source_device, std::size_t bytes) = 0;
  virtual Status fill(StreamRef stream, void* data, int value, std::size_t bytes) = 0;

  virtual Result<void*> create_stream(Device device) = 0;  // null on the host
  virtual void destroy_stream(StreamRef stream) = 0;
  virtual Status synchronize(StreamRef stream) = 0;
  virtual Result<bool> is_capturing(StreamRef stream) = 0;
};

// What only a GPU has. Destroying never fails: it tolerates a context that is already gone.
class GpuBackend : public Backend {
 public:
  // Of a cudaStream_t; the calling thread's current device where the runtime cannot tell.
  virtual Result<Device> device_of(void* stream) = 0;

  virtual Result<void*> create_event(Device device) = 0;
  virtual void destroy_event(Device device, void* event) = 0;
  virtual Status record_event(void* event, StreamRef stream) = 0;
  virtual Status synchronize_event(Device device, void* event) = 0;
  virtual Status block_on_event(StreamRef stream, void* event) = 0;
  virtual Result<double> elapsed_us(Device device, void* start, void* stop) = 0;

  virtual Status begin_capture(StreamRef stream) = 0;
  virtual Result<void*> end_capture(StreamRef stream) = 0;
  virtual void destroy_graph(void* graph) = 0;
  virtual Result<void*> instantiate(void* graph) = 0;
  virtual Status launch_graph(void* exec, StreamRef stream) = 0;
  virtual Status update_graph(void* exec, void* graph) = 0;
  virtual void destroy_graph_exec(void* exec) = 0;
};

[[nodiscard]] Backend& host_backend();

// Null where CUDA is not built in: exactly one of cuda_backend.cpp and cuda_absent.cpp is compiled.
[[nodiscard]] GpuBackend* cuda_backend();

// What the driver says, without a context on any device. Asked once.
struct CudaProbe {
  int devices = 0;
  Status status;  // ok where devices > 0
};
[[nodiscard]] const CudaProbe& cuda_probe();
// Whether a context can be made on cuda:0. Asked once.
[[nodiscard]] const Status& cuda_first_device_status();

// Ok where the device exists on this machine, or why it does not.
[[nodiscard]] Status check_device(Device device);
// The backend of a device that check_device accepts.
[[nodiscard]] Result<Backend*> backend_for(Device device);

}  // namespace rooftile::detail
