// Streams, events and graphs: RAII over the CUDA runtime, and their synchronous counterparts on cpu and sim.
//
// On `cpu` and `sim` work runs at once on the calling thread, so a stream is a name, an event a time stamp,
// and capture is unsupported (a Status says so). No function here synchronises unless its name says it.
#pragma once

#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"

namespace rooftile {

// A stream that somebody else owns. `handle` is a cudaStream_t on
// `cuda`, null elsewhere; null on `cuda` is the legacy default stream.
struct StreamRef {
  Device device;
  void* handle = nullptr;
};

class Stream {
 public:
  // A non-blocking stream on `device`.
  static Result<Stream> create(Device device);
  Stream() = default;
  Stream(Stream&& other) noexcept : ref_(std::exchange(other.ref_, {})) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(ref_, other.ref_);
    return *this;
  }
  ~Stream();

  [[nodiscard]] StreamRef ref() const { return ref_; }
  [[nodiscard]] Status synchronize() const;

 private:
  StreamRef ref_;
};

// Waits for all work in the stream.
[[nodiscard]] Status synchronize(StreamRef stream);
[[nodiscard]] Result<bool> is_capturing(StreamRef stream);

class Event {
 public:
  static Result<Event> create(Device device);
  Event() = default;
  Event(Event&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)), host_ns_(other.host_ns_) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(host_ns_, other.host_ns_);
    return *this;
  }
  ~Event();

  [[nodiscard]] Status record(StreamRef stream);
  [[nodiscard]] Status synchronize() const;
  // Makes `stream` wait for this event.
  [[nodiscard]] Status block(StreamRef stream) const;
  // Microseconds from `start` to this event; both recorded and completed.
  [[nodiscard]] Result<double> elapsed_us_since(const Event& start) const;

 private:
  Device device_;
  void* handle_ = nullptr;  // cudaEvent_t
  long long host_ns_ = 0;   // steady clock, on cpu and sim
};

// A captured sequence of work.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Graph();

  // Captures what `enqueue()` (returning Status) puts into the stream; on an error from it the capture is
  // ended and that error returned.
  template <class Enqueue>
  static Result<Graph> capture(StreamRef stream, Enqueue&& enqueue) {
    ROOFTILE_TRY(begin_capture(stream));
    Status status = std::forward<Enqueue>(enqueue)();
    Result<Graph> graph = end_capture(stream);
    if (!status.ok()) return status;
    return graph;
  }

  [[nodiscard]] void* handle() const { return handle_; }  // cudaGraph_t

 private:
  static Status begin_capture(StreamRef stream);
  static Result<Graph> end_capture(StreamRef stream);
  void* handle_ = nullptr;
};

// A graph ready to be replayed.
class GraphExec {
 public:
  static Result<GraphExec> instantiate(const Graph& graph);
  GraphExec() = default;
  GraphExec(GraphExec&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  GraphExec& operator=(GraphExec&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~GraphExec();

  [[nodiscard]] Status launch(StreamRef stream) const;
  // Takes over the parameters of a graph of the same topology; otherwise
  // an error that says what differs, and this graph stays as it was.
  [[nodiscard]] Status update(const Graph& graph);

 private:
  void* handle_ = nullptr;  // cudaGraphExec_t
};

}  // namespace rooftile
