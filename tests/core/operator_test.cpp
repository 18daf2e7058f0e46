#include "rooftile/core/operator.h"

#include <gtest/gtest.h>

#include <string>

namespace rooftile {
namespace {

struct Args {
  int size = 0;
};

WorkspaceSpec g_seen_spec;  // sizes of the workspace that the last launch was given
int g_launches = 0;

Status launch_ok(StreamRef, const DeviceProperties&, const Args&, const Workspace& workspace) {
  g_seen_spec = {workspace.bytes, workspace.zeroed_bytes};
  ++g_launches;
  return {};
}
Status launch_dirty(StreamRef, const DeviceProperties&, const Args&, const Workspace& workspace) {
  if (workspace.zeroed_bytes > 0) static_cast<char*>(workspace.zeroed)[0] = 1;
  return Status::error(StatusCode::device_error, "it broke half-way");
}
std::string at_most_100(const Args& args, const DeviceProperties&) {
  return args.size <= 100 ? "" : "at most 100";
}
WorkspaceSpec by_size(const Args& args, const DeviceProperties&) {
  return {.bytes = static_cast<std::size_t>(args.size) * 8, .zeroed_bytes = 4};
}

class Operator : public testing::Test {
 protected:
  Operator() {
    g_launches = 0;
    op_.name = "dummy";
    op_.rungs = {
        {.id = "host",
         .kind = RungKind::cpu,
         .idea = "",
         .supports = erase<Args>(&at_most_100),
         .workspace = erase<Args>(&by_size),
         .launch = {.cpu = erase<Args>(&launch_ok)}},
        {.id = "kernel", .kind = RungKind::gpu, .idea = "", .launch = {.sim = erase<Args>(&launch_ok)}},
        {.id = "dirty",
         .kind = RungKind::cpu,
         .idea = "",
         .workspace = erase<Args>(&by_size),
         .launch = {.cpu = erase<Args>(&launch_dirty)}},
    };
    op_.choose = [](const AnyArgs&, const DeviceProperties& device) {
      return std::string(device.device.kind == DeviceKind::cpu ? "host" : "kernel");
    };
  }
  static AnyArgs args(int size) { return AnyArgs::of(Args{size}); }
  static DeviceProperties gpu(int compute_capability) {
    DeviceProperties device;
    device.device = cuda_device(0);
    device.compute_capability = compute_capability;
    return device;
  }
  OperatorDescriptor op_;
  const DeviceProperties& cpu_ = **device_properties(kCpu);
  const DeviceProperties& sim_ = **device_properties(kSim);
};

TEST_F(Operator, FindsItsRungs) {
  EXPECT_EQ(op_.find_rung("kernel"), &op_.rungs[1]);
  EXPECT_EQ(op_.find_rung("kernels"), nullptr);
  EXPECT_EQ(op_.rung_ids(), (std::vector<std::string>{"host", "kernel", "dirty"}));
}

TEST_F(Operator, SaysWhyARungIsNotAvailable) {
  EXPECT_EQ(unavailable_reason(op_.rungs[0], cpu_), "");
  EXPECT_EQ(unavailable_reason(op_.rungs[0], sim_), "a CPU rung");
  EXPECT_EQ(unavailable_reason(op_.rungs[0], gpu(90)), "a CPU rung");
  EXPECT_EQ(unavailable_reason(op_.rungs[1], cpu_), "a GPU rung");
  EXPECT_EQ(unavailable_reason(op_.rungs[1], sim_), "");
  EXPECT_EQ(unavailable_reason(op_.rungs[1], gpu(90)),
            "not built into this program for cuda (configure with a CUDA toolkit)");
  EXPECT_FALSE(launch_for(op_.rungs[1], DeviceKind::cuda));
  EXPECT_FALSE(launch_for(op_.rungs[1], DeviceKind::cpu));
  EXPECT_TRUE(launch_for(op_.rungs[1], DeviceKind::sim));
}

TEST_F(Operator, GatesByArch) {
  RungRow rung = op_.rungs[1];
  rung.launch.cuda = erase<Args>(&launch_ok);
  rung.arch = {.minimum = 80};
  EXPECT_EQ(unavailable_reason(rung, gpu(75)), "needs sm_80 or newer, this is sm_75");
  EXPECT_EQ(unavailable_reason(rung, gpu(80)), "");
  EXPECT_EQ(unavailable_reason(rung, gpu(100)), "");
  rung.arch = {.minimum = 90, .exact = true};
  EXPECT_EQ(unavailable_reason(rung, gpu(86)), "needs sm_90a, this is sm_86");
  EXPECT_EQ(unavailable_reason(rung, gpu(100)), "needs sm_90a, this is sm_100");
  EXPECT_EQ(unavailable_reason(rung, gpu(90)), "");
  EXPECT_EQ(unavailable_reason(rung, sim_), "");
}

TEST_F(Operator, SupportsComesAfterAvailability) {
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(100), cpu_), "");
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(101), cpu_), "at most 100");
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(101), sim_), "a CPU rung");
  EXPECT_EQ(unsupported_reason(op_.rungs[1], args(101), sim_), "");
  EXPECT_EQ(workspace_for(op_.rungs[0], args(10), cpu_).bytes, 80u);
  EXPECT_EQ(workspace_for(op_.rungs[1], args(10), sim_).bytes, 0u);
}

TEST_F(Operator, NeverRunsWhatIsWrongOnPurpose) {
  op_.rungs[0].wrong_on_purpose = "a race: nothing orders the threads";
  const std::string reason = "wrong on purpose: a race: nothing orders the threads";
  EXPECT_EQ(unavailable_reason(op_.rungs[0], cpu_), "");
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(10), cpu_), reason);
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(10), sim_), "a CPU rung");
  Context context = Context::create(kCpu).value();
  EXPECT_EQ(run_rung(op_, op_.rungs[0], context, args(10)).message(), "dummy: host on cpu: " + reason);
  EXPECT_EQ(run_chosen(op_, context, args(10)).message(), "dummy: host on cpu: " + reason);
  EXPECT_EQ(g_launches, 0);
}

TEST_F(Operator, RunsTheChosenRungWithItsWorkspace) {
  Context context = Context::create(kCpu).value();
  ASSERT_TRUE(run_chosen(op_, context, args(10)).ok());
  EXPECT_EQ(g_launches, 1);
  EXPECT_GE(g_seen_spec.bytes, 80u);
  EXPECT_GE(g_seen_spec.zeroed_bytes, 4u);
  EXPECT_EQ(chosen_workspace(op_, args(10), cpu_)->bytes, 80u);
  Context sim = Context::create(kSim).value();
  ASSERT_TRUE(run_chosen(op_, sim, args(10)).ok());
  EXPECT_EQ(g_launches, 2);
}

TEST_F(Operator, ErrorsCarryTheOperator) {
  Context context = Context::create(kCpu).value();
  const Status status = run_chosen(op_, context, args(101));
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_EQ(status.message(), "dummy: host on cpu: at most 100");
  EXPECT_EQ(chosen_workspace(op_, args(101), cpu_).status().operator_name(), "dummy");
  EXPECT_EQ(run_rung(op_, op_.rungs[1], context, args(1)).message(), "dummy: kernel on cpu: a GPU rung");
  EXPECT_EQ(run_rung(op_, op_.rungs[1], context, args(1)).code(), StatusCode::unavailable);
  EXPECT_EQ(run_rung(op_, op_.rungs[2], context, args(1)).message(), "dummy: it broke half-way");
  EXPECT_EQ(
      run_chosen(op_, StreamRef{cuda_device(cuda_device_count()), nullptr}, args(1), {}).operator_name(),
      "dummy");
  EXPECT_EQ(g_launches, 0);

  op_.choose = [](const AnyArgs&, const DeviceProperties&) { return std::string("typo"); };
  EXPECT_EQ(run_chosen(op_, context, args(1)).code(), StatusCode::internal);
  op_.choose = [](const AnyArgs&, const DeviceProperties&) { return std::string(); };
  EXPECT_EQ(run_chosen(op_, context, args(1)).message(), "dummy: no rung serves this call on cpu");
  op_.choose = nullptr;
  EXPECT_EQ(run_chosen(op_, context, args(1)).code(), StatusCode::unsupported);
}

TEST_F(Operator, AWorkspaceThatDoesNotFitIsRefused) {
  const StreamRef stream{kCpu, nullptr};
  const OwnedWorkspace good = OwnedWorkspace::create(stream, {.bytes = 80, .zeroed_bytes = 4}).value();
  EXPECT_TRUE(run_chosen(op_, stream, args(10), good.get()).ok());
  EXPECT_EQ(
      run_chosen(op_, stream, args(11), good.get()).message(),
      "dummy: the workspace is too small: it has 80 bytes and 4 zeroed, the call needs 88 and 4 zeroed");
  Workspace misaligned = good.get();
  misaligned.data = static_cast<char*>(misaligned.data) + 8;
  EXPECT_NE(run_chosen(op_, stream, args(1), misaligned).rule().find("aligned to 256"), std::string::npos);
  Workspace null = good.get();
  null.zeroed = nullptr;
  EXPECT_NE(run_chosen(op_, stream, args(1), null).rule().find("null"), std::string::npos);
  EXPECT_EQ(g_launches, 1);
}

TEST_F(Operator, AFailedCallDoesNotDirtyTheNextOne) {
  Context context = Context::create(kCpu).value();
  EXPECT_FALSE(run_rung(op_, op_.rungs[2], context, args(10)).ok());
  const Workspace workspace = context.workspace({.bytes = 80, .zeroed_bytes = 4}).value();
  EXPECT_EQ(static_cast<char*>(workspace.zeroed)[0], 0);
}

}  // namespace
}  // namespace rooftile
