#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/detail/backend.h"
#include "rooftile/core/detail/context_impl.h"
#include "rooftile/core/detail/guarded.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace {

constexpr const char* kNoGraph = "the graph is empty: make one by Graph::record";
constexpr const char* kNoGraphExec = "the graph is not instantiated: make one by GraphExec::instantiate";

// Graphs exist on a GPU alone.
Status check_graph_stream(StreamRef stream) {
  ROOFTILE_TRY(detail::check_device(stream.device));
  if (stream.device.kind == DeviceKind::cuda) return {};
  return unsupported("graphs need a cuda stream: on " + to_string(stream.device) +
                     " work runs at once and leaves nothing to capture or replay");
}

}  // namespace

// What the calls of a recorded graph use.
struct Graph::Owned {
  std::shared_ptr<detail::Arena> arena;  // whose error word the kernels write
  std::vector<OwnedWorkspace> workspaces;
};

Graph::~Graph() {
  if (exec_ != nullptr) detail::cuda_backend()->destroy_graph_exec(exec_);
  if (handle_ != nullptr) detail::cuda_backend()->destroy_graph(handle_);
}

Status Graph::begin_capture(StreamRef stream) {
  return detail::guarded([&]() -> Status {
    ROOFTILE_TRY(check_graph_stream(stream));
    if (stream.handle == nullptr) {
      return invalid_argument("the default stream cannot be captured: use a Stream");
    }
    return detail::cuda_backend()->begin_capture(stream);
  });
}

Result<Graph> Graph::end_capture(const StreamRef& stream) {
  return detail::guarded([&]() -> Result<Graph> {
    Graph graph;
    ROOFTILE_TRY_ASSIGN(graph.handle_, detail::cuda_backend()->end_capture(stream));
    return graph;
  });
}

Status Graph::begin_recording(Context& context) {
  ROOFTILE_TRY(context.status());
  if (context.impl_->recording)
    return invalid_argument("the Context is recording already: end that graph first");
  ROOFTILE_TRY(begin_capture(context.stream()));
  context.impl_->recording = true;
  return {};
}

Result<Graph> Graph::end_recording(Context& context) {
  return detail::guarded([&]() -> Result<Graph> {
    context.impl_->recording = false;
    std::vector<OwnedWorkspace> workspaces = std::exchange(context.impl_->recorded, {});
    ROOFTILE_TRY_ASSIGN(Graph graph, end_capture(context.stream()));
    graph.owned_ = std::make_shared<const Owned>(Owned{context.impl_->arena, std::move(workspaces)});
    ROOFTILE_TRY_ASSIGN(graph.exec_, detail::cuda_backend()->instantiate(graph.handle_));
    return graph;
  });
}

Status Graph::launch(StreamRef stream) {
  return detail::guarded([&]() -> Status {
    ROOFTILE_TRY(check_graph_stream(stream));
    if (handle_ == nullptr) return invalid_argument(kNoGraph);
    if (exec_ == nullptr) {
      ROOFTILE_TRY_ASSIGN(exec_, detail::cuda_backend()->instantiate(handle_));
    }
    return detail::cuda_backend()->launch_graph(exec_, stream);
  });
}

Result<GraphExec> GraphExec::instantiate(const Graph& graph) {
  if (graph.handle() == nullptr) return invalid_argument(kNoGraph);
  GraphExec exec;
  ROOFTILE_TRY_ASSIGN(exec.handle_, detail::cuda_backend()->instantiate(graph.handle()));
  exec.owned_ = graph.owned_;
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
  ROOFTILE_TRY(detail::cuda_backend()->update_graph(handle_, graph.handle()));
  owned_ = graph.owned_;
  return {};
}

}  // namespace rooftile
