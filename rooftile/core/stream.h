// Streams, events and graphs: RAII over the CUDA runtime, and their synchronous counterparts on cpu and sim.
//
// On `cpu` and `sim` work runs at once on the calling thread, so a stream is a name, an event a time stamp,
// and capture is unsupported (a Status says so). No function here synchronises unless its name says it.
#pragma once

#include <memory>
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

class Context;

// A captured sequence of work, and what it needs to be replayed.
//
//   Graph graph = Graph::record(context, [&] { return reduce(context, args); }).value();
//   graph.launch(context.stream());
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        exec_(std::exchange(other.exec_, nullptr)),
        owned_(std::move(other.owned_)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(exec_, other.exec_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Graph();

  // What `enqueue()` (returning Status) calls on the Context, ready to be replayed. The graph owns the workspaces of
  // these calls and outlives the Context; the tensors are the caller's to keep. On an error from enqueue() the capture
  // is ended and that error returned. Two launches of one graph, or of what was instantiated from it, must not run at
  // the same time: they share those workspaces.
  template <class Enqueue>
  static Result<Graph> record(Context& context, Enqueue&& enqueue) {
    ROOFTILE_TRY(begin_recording(context));
    Ending<Context> ending{&context, &Graph::end_recording};
    return ending.end(std::forward<Enqueue>(enqueue)());
  }
  // The same of any stream's work; calls need a workspace that was there before.
  template <class Enqueue>
  static Result<Graph> capture(StreamRef stream, Enqueue&& enqueue) {
    ROOFTILE_TRY(begin_capture(stream));
    Ending<const StreamRef> ending{&stream, &Graph::end_capture};
    return ending.end(std::forward<Enqueue>(enqueue)());
  }

  // Replays. The first launch instantiates, where record() has not.
  [[nodiscard]] Status launch(StreamRef stream);

  [[nodiscard]] void* handle() const { return handle_; }  // cudaGraph_t

 private:
  // Ends a capture also where enqueue() throws.
  template <class Where>
  struct Ending {
    Where* where;
    Result<Graph> (*end_it)(Where&);
    Result<Graph> end(const Status& enqueued) {
      Result<Graph> graph = end_it(*std::exchange(where, nullptr));
      if (!enqueued.ok()) return enqueued;
      return graph;
    }
    ~Ending() {
      if (where != nullptr) (void)end_it(*where);
    }
  };
  struct Owned;
  static Status begin_recording(Context& context);
  static Result<Graph> end_recording(Context& context);
  static Status begin_capture(StreamRef stream);
  static Result<Graph> end_capture(const StreamRef& stream);
  void* handle_ = nullptr;
  void* exec_ = nullptr;  // cudaGraphExec_t
  std::shared_ptr<const Owned> owned_;
  friend class GraphExec;
};

// A graph ready to be replayed, which needs the Graph no longer: what a recorded graph owns is kept by both.
class GraphExec {
 public:
  static Result<GraphExec> instantiate(const Graph& graph);
  GraphExec() = default;
  GraphExec(GraphExec&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), owned_(std::move(other.owned_)) {}
  GraphExec& operator=(GraphExec&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~GraphExec();

  [[nodiscard]] Status launch(StreamRef stream) const;
  // Takes over the parameters of a graph of the same topology, and what that owns; otherwise an error that says what differs, and
  // this stays as it was. Precondition, as of destruction and assignment: its launches have ended (what it owned is freed).
  [[nodiscard]] Status update(const Graph& graph);

 private:
  void* handle_ = nullptr;  // cudaGraphExec_t
  std::shared_ptr<const Graph::Owned> owned_;
};

}  // namespace rooftile
