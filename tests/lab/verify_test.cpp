#include "rooftile/lab/check/verify.h"

#include <gtest/gtest.h>

#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

using test::Bug;

struct Fake {
  explicit Fake(std::vector<RungRow> rungs, double floor = 0.0)
      : op(test::make_fake("fake", std::move(rungs))) {
    registry.add(op);
    registry.add(test::make_fake_cases("fake", floor));
  }
  OperatorDescriptor op;
  Registry registry;
};

VerifyReport run(const Registry& registry, VerifyOptions options = {}) {
  options.devices = {kCpu};
  Result<VerifyReport> report = verify(registry, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? std::move(*report) : VerifyReport{};
}

VerifyOptions single(Case c) {
  VerifyOptions options;
  options.single = std::move(c);
  return options;
}

TEST(Verify, ARightRungPassesEveryCase) {
  const Fake fake({test::fake_rung("right", Bug::none)});
  const VerifyReport report = run(fake.registry);
  EXPECT_EQ(report.cases, 12);
  EXPECT_EQ(report.passed, 12);
  EXPECT_EQ(report.failed, 0) << report.failures[0].id << ": " << report.failures[0].reason;
  EXPECT_TRUE(report.skipped.empty());
}

// What a sample does not look at, and no promise of determinism compares, is still seen not to be written.
TEST(Verify, AnElementThatNobodyWritesFailsWhereASampleIsJudged) {
  const auto first_alone = [](const Case&, std::span<const HostTensor> inputs) -> Result<Judge> {
    const double wanted = 2 * inputs[0].at(0);
    return Judge([wanted](std::span<const HostTensor> outputs) -> Judgement {
      return {.mismatch = outputs[0].at(0) == wanted ? "" : "y element 0", .sampled = "1 of many"};
    });
  };
  for (const Bug bug : {Bug::none, Bug::skips_tail}) {
    RungRow rung = test::fake_rung("rung", bug);
    rung.determinism = Determinism::not_guaranteed;
    const OperatorDescriptor op = test::make_fake("fake", {rung});
    OperatorCases cases = test::make_fake_cases("fake");
    cases.judge = first_alone;
    Registry registry;
    registry.add(op);
    registry.add(std::move(cases));
    const VerifyReport report = run(registry, single(test::fake_case(1003, DType::f32)));
    EXPECT_EQ(report.failed, bug == Bug::none ? 0 : 1);
    EXPECT_EQ(report.sampled, bug == Bug::none ? 1 : 0);
    for (const CheckResult& failure : report.failures)
      EXPECT_EQ(failure.reason, "y element 992 was not written");
  }
}

// What a sample does not look at is compared with a peer that does the same.
TEST(Verify, EveryElementIsComparedWithAPeerWhereASampleIsJudged) {
  const auto first_alone = [](const Case&, std::span<const HostTensor>) -> Result<Judge> {
    return Judge([](std::span<const HostTensor>) -> Judgement {
      return {.sampled = "1 of many", .allowed = {{.error = 1e-9}}};
    });
  };
  const OperatorDescriptor op = test::make_fake(
      "fake", {test::fake_rung("right", Bug::none), test::fake_rung("wrong_lane", Bug::wrong_lane)});
  OperatorCases cases = test::make_fake_cases("fake");
  cases.judge = first_alone;
  Registry registry;
  registry.add(op);
  registry.add(std::move(cases));
  EXPECT_EQ(run(registry, single(test::fake_case(1003, DType::f32))).passed, 2);
  registry.add(test::fake_peer("peer", Bug::none));
  const VerifyReport report = run(registry, single(test::fake_case(1003, DType::f32)));
  EXPECT_EQ(report.passed, 2);
  ASSERT_EQ(report.failed, 1);
  EXPECT_EQ(report.failures[0].id.substr(0, 16), "fake/wrong_lane[");
  EXPECT_NE(report.failures[0].reason.find("y element 501: "), std::string::npos)
      << report.failures[0].reason;
  EXPECT_NE(report.failures[0].reason.find("where peer has"), std::string::npos) << report.failures[0].reason;
}

// A peer's search comes first, is given the whole call, and decides what is launched.
TEST(Verify, APeerIsPreparedBeforeItIsLaunched) {
  const Fake fake({test::fake_rung("right", Bug::none)});
  const auto check_with = [&fake](std::function<Result<LaunchFn>(const AnyCall&)> prepare) {
    Registry registry;
    registry.add(fake.op);
    registry.add(test::make_fake_cases("fake"));
    PeerRow peer = test::fake_peer("peer", Bug::writes_nothing);
    peer.prepare = std::move(prepare);
    registry.add(std::move(peer));
    return run(registry, single(test::fake_case(1003, DType::f32)));
  };
  EXPECT_EQ(check_with(nullptr).failed, 1);
  int searches = 0;
  const auto search = [&searches](const AnyCall& call) -> Result<LaunchFn> {
    ++searches;
    EXPECT_NE(call.workspace.data, nullptr);
    return test::fake_launch(Bug::none);
  };
  EXPECT_EQ(check_with(search).passed, 2);
  EXPECT_EQ(searches, 1);
  const auto refuse = [](const AnyCall&) -> Result<LaunchFn> {
    return unavailable("no algorithm serves this");
  };
  const VerifyReport report = check_with(refuse);
  ASSERT_EQ(report.failed, 1);
  EXPECT_NE(report.failures[0].reason.find("no algorithm serves this"), std::string::npos);
}

class VerifyBug : public testing::TestWithParam<test::BugRow> {};

TEST_P(VerifyBug, TurnsRed) {
  const test::BugRow row = GetParam();
  // A bug that stays within the tolerance must be found by the other checks.
  const Fake fake({test::fake_rung(row.id, row.bug)}, row.bug == Bug::counts_runs ? 0.1 : 0.0);
  test::run_counter() = 0;
  const VerifyReport report = run(fake.registry, single(test::fake_case(1003, DType::f32, Fill::uniform, 1)));
  EXPECT_EQ(report.passed, 0);
  ASSERT_EQ(report.failed, 1);
  EXPECT_NE(report.failures[0].reason.find(row.finding), std::string::npos) << report.failures[0].reason;
  EXPECT_EQ(report.failures[0].id, "fake/" + std::string(row.id) + "[" +
                                       case_id(test::fake_case(1003, DType::f32, Fill::uniform, 1)) + "]");
}

INSTANTIATE_TEST_SUITE_P(Lab, VerifyBug, testing::ValuesIn(test::kBugs),
                         [](const auto& bug) { return std::string(bug.param.id); });

TEST(Verify, InPlaceTheInputIsTheOutputAndIsRenewedForEveryRung) {
  const Fake fake({test::fake_rung("right", Bug::none),
                   test::fake_rung("reads_back", Bug::reads_what_it_wrote),
                   test::fake_rung("right_too", Bug::none)});
  Case c = test::fake_case(1003, DType::f32);
  EXPECT_EQ(run(fake.registry, single(c)).passed, 3);
  c.in_place = true;
  const VerifyReport report = run(fake.registry, single(c));
  EXPECT_EQ(report.passed, 2);
  ASSERT_EQ(report.failed, 1);
  EXPECT_EQ(report.failures[0].id, "fake/reads_back[" + case_id(c) + "]");
  EXPECT_NE(report.failures[0].repro.find("--in-place"), std::string::npos);
}

TEST(Verify, InPlaceIsRefusedWhereNoOutputMayAlias) {
  OperatorDescriptor op = test::make_fake("fake", {test::fake_rung("right", Bug::none)});
  op.slots[1].may_alias.clear();
  Registry registry;
  registry.add(op);
  registry.add(test::make_fake_cases("fake"));
  VerifyOptions options = single(test::fake_case(33, DType::f32));
  options.single->in_place = true;
  options.devices = {kCpu};
  const Result<VerifyReport> report = verify(registry, options);
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("nothing to do in place"), std::string::npos);
}

TEST(Verify, ARowWithoutALauncherFails) {
  RungRow lost = test::fake_rung("lost", Bug::none);
  lost.launch.cpu = {};
  const Fake fake({test::fake_rung("right", Bug::none), lost});
  const VerifyReport report = run(fake.registry, single(test::fake_case(33, DType::f32)));
  EXPECT_EQ(report.passed, 1);
  ASSERT_EQ(report.failed, 1);
  EXPECT_NE(report.failures[0].reason.find("no launcher for cpu"), std::string::npos);
}

TEST(Verify, ACallThatWritesNothingLaunchesNothing) {
  const Fake fake({test::fake_rung("reports_error", Bug::reports_error)});
  EXPECT_EQ(run(fake.registry, single(test::fake_case(0, DType::f32))).passed, 1);
}

TEST(Verify, IntegersAreComparedExactly) {
  for (const Bug bug : {Bug::skips_tail, Bug::wrong_lane, Bug::writes_nothing, Bug::reads_workspace}) {
    const Fake fake({test::fake_rung("wrong", bug)});
    EXPECT_EQ(run(fake.registry, single(test::fake_case(1003, DType::i32))).failed, 1)
        << static_cast<int>(bug);
  }
}

TEST(Verify, AnUnwrittenElementWhoseValueIsThePoisonIsStillFound) {
  // The first poison is -1 in an i32: a rung that writes nothing agrees with a reference of -1 until the
  // second.
  OperatorDescriptor op = test::make_fake("fake", {test::fake_rung("writes_nothing", Bug::writes_nothing)});
  OperatorCases cases = test::make_fake_cases("fake");
  cases.reference = [](const Case&, std::span<const HostTensor> inputs) -> Result<std::vector<Expected>> {
    Expected expected;
    ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::i32, inputs[0].shape()));
    for (std::int32_t& value : expected.exact.as<std::int32_t>()) value = -1;
    std::vector<Expected> all;
    all.push_back(std::move(expected));
    return all;
  };
  Registry registry;
  registry.add(op);
  registry.add(std::move(cases));
  EXPECT_EQ(run(registry, single(test::fake_case(4, DType::i32))).failed, 1);
}

TEST(Verify, ARungThatPromisesNothingMayDifferBetweenRuns) {
  RungRow rung = test::fake_rung("counts_runs", Bug::counts_runs);
  rung.determinism = Determinism::not_guaranteed;
  const Fake fake({rung}, 0.1);
  EXPECT_EQ(run(fake.registry, single(test::fake_case(1003, DType::f32))).passed, 1);
}

TEST(Verify, ACallThatWritesNothingIsNotPlanned) {
  RungRow rung = test::fake_rung("right", Bug::none);
  rung.plan = [](ArgsRef args, const DeviceProperties&) {
    EXPECT_GT(args.as<test::FakeArgs>().x.numel(), 0);
    return RungPlan{.workspace = {.bytes = 40, .zeroed_bytes = 4}};
  };
  const Fake fake({rung});
  EXPECT_EQ(run(fake.registry, single(test::fake_case(0, DType::f32))).passed, 1);
  EXPECT_EQ(run(fake.registry, single(test::fake_case(5, DType::f32))).passed, 1);
}

TEST(Verify, AnUnsupportedRungIsSkippedWithItsReason) {
  RungRow rung = test::fake_rung("right", Bug::none);
  rung.supports = [](ArgsRef, const DeviceProperties&) { return std::string_view("not today"); };
  const Fake fake({rung});
  const VerifyReport report = run(fake.registry);
  EXPECT_EQ(report.passed, 0);
  EXPECT_EQ(report.failed, 0);
  ASSERT_EQ(report.skipped.size(), 12u);
  EXPECT_EQ(report.skipped[0].reason, "not today");
}

TEST(Verify, AReproLineNamesTheCase) {
  const Fake fake({test::fake_rung("wrong_lane", Bug::wrong_lane)});
  const VerifyReport report =
      run(fake.registry, single(test::fake_case(33, DType::f32, Fill::small_integers, 2)));
  ASSERT_EQ(report.failed, 1);
  EXPECT_EQ(report.failures[0].repro,
            "rooftile verify fake --rung wrong_lane --device cpu --shape n=33 --dtype f32 --arg mode=plain "
            "--fill small_integers --offset 2 --seed 1");
}

TEST(Verify, ARungIsNotBlamedForTheDamageOfTheOneBefore) {
  const Fake fake({test::fake_rung("modifies_input", Bug::modifies_input),
                   test::fake_rung("writes_behind", Bug::writes_behind),
                   test::fake_rung("right", Bug::none)});
  const VerifyReport report = run(fake.registry, single(test::fake_case(1003, DType::f32)));
  EXPECT_EQ(report.passed, 1);
  EXPECT_EQ(report.failed, 2);
}

TEST(Verify, WrongCallsAreErrors) {
  const Fake fake({test::fake_rung("right", Bug::none)});
  VerifyOptions options;
  options.devices = {kCpu};
  options.operators = {"fakf"};
  EXPECT_EQ(verify(fake.registry, options).status().code(), StatusCode::invalid_argument);
  options.operators = {"fake"};
  options.rungs = {"rigth"};
  const Status unknown = verify(fake.registry, options).status();
  EXPECT_EQ(unknown.code(), StatusCode::invalid_argument);
  EXPECT_NE(unknown.message().find("right"), std::string::npos);
  options.rungs = {};
  options.single = test::fake_case(-1, DType::f32);
  EXPECT_EQ(verify(fake.registry, options).status().code(), StatusCode::invalid_argument);
  options.single = test::fake_case(std::int64_t{1} << 50, DType::f32);
  EXPECT_EQ(verify(fake.registry, options).status().code(), StatusCode::out_of_memory);
  options.single = test::fake_case(33, DType::f16);
  EXPECT_EQ(verify(fake.registry, options).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace rooftile::lab
