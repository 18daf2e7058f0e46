#include "rooftile/core/stream.h"

#include <chrono>
#include <string>

#include "rooftile/core/detail/backend.h"

namespace rooftile {
namespace {

constexpr const char* kNoEvent = "the event is empty (moved from): make one by Event::create";
constexpr const char* kNoGraph = "the graph is empty: make one by Graph::capture";
constexpr const char* kNoGraphExec = "the graph is not instantiated: make one by GraphExec::instantiate";

bool is_cuda(Device device) { return device.kind == DeviceKind::cuda; }

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status check_same_device(Device event, Device stream) {
  if (event == stream) return {};
  return invalid_argument("an event of " + to_string(event) + " cannot be recorded in a stream of " +
                          to_string(stream));
}

// Graphs exist on a GPU alone.
Status check_graph_stream(StreamRef stream) {
  ROOFTILE_TRY(detail::check_device(stream.device));
  if (is_cuda(stream.device)) return {};
  return unsupported("graphs need a cuda stream: on " + to_string(stream.device) +
                     " work runs at once and leaves nothing to capture or replay");
}

}  // namespace

Result<Stream> Stream::create(Device device) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  Stream stream;
  ROOFTILE_TRY_ASSIGN(stream.ref_.handle, backend->create_stream(device));
  stream.ref_.device = device;
  return stream;
}

Stream::~Stream() {
  if (ref_.handle != nullptr) detail::cuda_backend()->destroy_stream(ref_);
}

Status Stream::synchronize() const { return rooftile::synchronize(ref_); }

Status synchronize(StreamRef stream) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  return backend->synchronize(stream);
}

Result<bool> is_capturing(StreamRef stream) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  return backend->is_capturing(stream);
}

Result<Event> Event::create(Device device) {
  ROOFTILE_TRY(detail::check_device(device));
  Event event;
  event.device_ = device;
  if (is_cuda(device)) {
    ROOFTILE_TRY_ASSIGN(event.handle_, detail::cuda_backend()->create_event(device));
  }
  return event;
}

Event::~Event() {
  if (handle_ != nullptr) detail::cuda_backend()->destroy_event(device_, handle_);
}

Status Event::record(StreamRef stream) {
  ROOFTILE_TRY(check_same_device(device_, stream.device));
  if (!is_cuda(device_)) {
    host_ns_ = now_ns();
    return {};
  }
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  return detail::cuda_backend()->record_event(handle_, stream);
}

Status Event::synchronize() const {
  if (!is_cuda(device_)) return {};
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  return detail::cuda_backend()->synchronize_event(device_, handle_);
}

Status Event::block(StreamRef stream) const {
  ROOFTILE_TRY(detail::check_device(stream.device));
  if (!is_cuda(device_)) return {};  // recorded means done
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  // Work of the host runs at once, so a host stream can only wait by blocking the calling thread.
  if (!is_cuda(stream.device)) return synchronize();
  return detail::cuda_backend()->block_on_event(stream, handle_);
}

Result<double> Event::elapsed_us_since(const Event& start) const {
  if (start.device_ != device_) {
    return invalid_argument("no time between events of " + to_string(start.device_) + " and " +
                            to_string(device_));
  }
  if (is_cuda(device_)) {
    if (handle_ == nullptr || start.handle_ == nullptr) return invalid_argument(kNoEvent);
    return detail::cuda_backend()->elapsed_us(device_, start.handle_, handle_);
  }
  if (host_ns_ == 0 || start.host_ns_ == 0)
    return invalid_argument("both events must be recorded before their time is asked");
  return static_cast<double>(host_ns_ - start.host_ns_) * 1e-3;
}

Graph::~Graph() {
  if (handle_ != nullptr) detail::cuda_backend()->destroy_graph(handle_);
}

Status Graph::begin_capture(StreamRef stream) {
  ROOFTILE_TRY(check_graph_stream(stream));
  if (stream.handle == nullptr) {
    return invalid_argument("the default stream cannot be captured: use a Stream");
  }
  return detail::cuda_backend()->begin_capture(stream);
}

Result<Graph> Graph::end_capture(StreamRef stream) {
  Graph graph;
  ROOFTILE_TRY_ASSIGN(graph.handle_, detail::cuda_backend()->end_capture(stream));
  return graph;
}

Result<GraphExec> GraphExec::instantiate(const Graph& graph) {
  if (graph.handle() == nullptr) return invalid_argument(kNoGraph);
  GraphExec exec;
  ROOFTILE_TRY_ASSIGN(exec.handle_, detail::cuda_backend()->instantiate(graph.handle()));
  return exec;
}

GraphExec::~GraphExec() {
  if (handle_ != nullptr) detail::cuda_backend()->destroy_graph_exec(handle_);
}

Status GraphExec::launch(StreamRef stream) const {
  ROOFTILE_TRY(check_graph_stream(stream));
  if (handle_ == nullptr) return invalid_argument(kNoGraphExec);
  return detail::cuda_backend()->launch_graph(handle_, stream);
}

Status GraphExec::update(const Graph& graph) {
  if (handle_ == nullptr) return invalid_argument(kNoGraphExec);
  if (graph.handle() == nullptr) return invalid_argument(kNoGraph);
  return detail::cuda_backend()->update_graph(handle_, graph.handle());
}

}  // namespace rooftile
