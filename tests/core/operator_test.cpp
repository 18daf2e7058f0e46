#include "rooftile/core/operator.h"

#include <gtest/gtest.h>

#include <string>

#include "rooftile/core/describe.h"

namespace rooftile {
namespace {

struct Args {
  int size = 0;
};

WorkspaceSpec g_seen_spec;  // sizes of the workspace that the last launch was given
int g_seen_config = 0;
int g_launches = 0;

Status launch_ok(const Call<Args>& call) {
  g_seen_spec = {call.workspace.bytes, call.workspace.zeroed_bytes};
  ++g_launches;
  return {};
}
Status launch_planned(const Call<Args>& call) {
  g_seen_config = call.config<int>();
  return launch_ok(call);
}
Status launch_dirty(const Call<Args>& call) {
  if (call.workspace.zeroed_bytes > 0) static_cast<char*>(call.workspace.zeroed)[0] = 1;
  return Status::error(StatusCode::device_error, "it broke half-way");
}
std::string_view at_most_100(const Args& args, const DeviceProperties&) {
  return args.size <= 100 ? "" : "at most 100";
}
RungPlan by_size(const Args& args, const DeviceProperties&) {
  return {.workspace = {.bytes = static_cast<std::size_t>(args.size) * 8, .zeroed_bytes = 4},
          .config = PlanConfig::of(args.size + 1)};
}

class Operator : public testing::Test {
 protected:
  Operator()
      : op_(describe<Args>({
            .name = "dummy",
            .summary = "",
            .maths = "",
            .model = "",
            .source = "",
            .slots = {},
            .params = {param("size", &Args::size, {})},
            .choose = [](const Args&, const DeviceProperties& device) -> std::string_view {
              return device.device.kind == DeviceKind::cpu ? "host" : "kernel";
            },
            .rungs = {{.rung = cpu_rung<Args>("host", launch_planned),
                       .idea = "",
                       .supports = at_most_100,
                       .plan = by_size},
                      {.rung = {.name = "kernel", .kind = RungKind::gpu, .sim = launch_ok}, .idea = ""},
                      {.rung = cpu_rung<Args>("dirty", launch_dirty), .idea = "", .plan = by_size}},
        })) {
    g_launches = 0;
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
  rung.launch.cuda = [](const AnyCall&) { return Status(); };
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
  EXPECT_EQ(plan_rung(op_.rungs[0], args(10), cpu_).workspace.bytes, 80u);
  EXPECT_EQ(plan_rung(op_.rungs[1], args(10), sim_).workspace.bytes, 0u);
}

TEST_F(Operator, NeverRunsWhatIsWrongOnPurpose) {
  op_.rungs[0].wrong_on_purpose = "a race: nothing orders the threads";
  const std::string reason = "wrong on purpose: a race: nothing orders the threads";
  EXPECT_EQ(unavailable_reason(op_.rungs[0], cpu_), "");
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(10), cpu_), reason);
  EXPECT_EQ(unsupported_reason(op_.rungs[0], args(10), sim_), "a CPU rung");
  Context context = Context::create(kCpu).value();
  EXPECT_EQ(run_rung(op_, op_.rungs[0], context, args(10)).sentence(),
            "dummy: host on cpu: " + reason + " (size=10)");
  EXPECT_EQ(run(op_, context, args(10)).sentence(), "dummy: host on cpu: " + reason + " (size=10)");
  EXPECT_EQ(g_launches, 0);
}

TEST_F(Operator, RunsTheChosenRungWithItsWorkspace) {
  Context context = Context::create(kCpu).value();
  ASSERT_TRUE(run(op_, context, args(10)).ok());
  EXPECT_EQ(g_launches, 1);
  EXPECT_EQ(g_seen_config, 11);
  EXPECT_GE(g_seen_spec.bytes, 80u);
  EXPECT_GE(g_seen_spec.zeroed_bytes, 4u);
  EXPECT_EQ(workspace_of(op_, args(10), kCpu)->bytes, 80u);
  Context sim = Context::create(kSim).value();
  ASSERT_TRUE(run(op_, sim, args(10)).ok());
  EXPECT_EQ(g_launches, 2);
}

TEST_F(Operator, ErrorsCarryTheOperator) {
  Context context = Context::create(kCpu).value();
  const Status status = run(op_, context, args(101));
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_EQ(status.sentence(), "dummy: host on cpu: at most 100 (size=101)");
  EXPECT_EQ(workspace_of(op_, args(101), kCpu).status().operator_name(), "dummy");
  EXPECT_EQ(run_rung(op_, op_.rungs[1], context, args(1)).sentence(),
            "dummy: kernel on cpu: a GPU rung (size=1)");
  EXPECT_EQ(run_rung(op_, op_.rungs[1], context, args(1)).code(), StatusCode::unavailable);
  EXPECT_EQ(run_rung(op_, op_.rungs[2], context, args(1)).sentence(), "dummy: it broke half-way (size=1)");
  EXPECT_EQ(run(op_, StreamRef{cuda_device(cuda_device_count()), nullptr}, args(1), {}).operator_name(),
            "dummy");
  EXPECT_EQ(g_launches, 0);

  op_.choose = [](ArgsRef, const DeviceProperties&) { return std::string_view("typo"); };
  EXPECT_EQ(run(op_, context, args(1)).code(), StatusCode::internal);
  op_.choose = [](ArgsRef, const DeviceProperties&) { return std::string_view(); };
  EXPECT_EQ(run(op_, context, args(1)).sentence(), "dummy: no rung serves this call on cpu (size=1)");
  op_.choose = nullptr;
  EXPECT_EQ(run(op_, context, args(1)).code(), StatusCode::unsupported);
}

TEST_F(Operator, AWorkspaceThatDoesNotFitIsRefused) {
  const StreamRef stream{kCpu, nullptr};
  const OwnedWorkspace good = OwnedWorkspace::create(stream, {.bytes = 80, .zeroed_bytes = 4}).value();
  EXPECT_TRUE(run(op_, stream, args(10), good.get()).ok());
  EXPECT_EQ(
      run(op_, stream, args(11), good.get()).sentence(),
      "dummy: the workspace is too small: it has 80 bytes and 4 zeroed, the call needs 88 and 4 zeroed (size=11)");
  Workspace misaligned = good.get();
  misaligned.data = static_cast<char*>(misaligned.data) + 8;
  EXPECT_NE(run(op_, stream, args(1), misaligned).rule().find("aligned to 256"), std::string::npos);
  Workspace null = good.get();
  null.zeroed = nullptr;
  EXPECT_NE(run(op_, stream, args(1), null).rule().find("null"), std::string::npos);
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
