// Every rung of every operator on a GPU: recorded and replayed when neither Graph nor Context is there any more, and on two
// streams at once: the bits of a call by itself. What these are worth `rooftile verify` judges.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/lab/case/problem.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using Outputs = std::vector<HostTensor>;

constexpr int kPoison = 0xFF;
// Cases of a rung: as many as say something of graphs, spread over its quick ones.
constexpr std::size_t kCases = 5;

class Graphs : public OperatorTest {
 protected:
  void SetUp() override {
    if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability().message();
    OperatorTest::SetUp();
  }

  // The quick cases that the rung serves, kCases of them at most.
  std::vector<Case> cases_of(const RungRow& rung) const {
    std::vector<Case> served;
    for (const Case& c : cases_->cases()) {
      if (c.tier != CaseTier::quick) continue;
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      if (!host.ok()) continue;
      const Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kGpu);
      if (problem.ok() && !writes_nothing(*op_, problem->args()) &&
          unsupported_reason(rung, problem->args(), problem->properties()).empty())
        served.push_back(c);
    }
    std::vector<Case> spread;
    const std::size_t count = std::min(kCases, served.size());
    for (std::size_t i = 0; i < count; ++i) spread.push_back(served[i * served.size() / count]);
    return spread;
  }

  static constexpr Device kGpu = cuda_device(0);
};
INSTANTIATE_TEST_SUITE_P(Operators, Graphs, ::testing::ValuesIn(operator_names()), operator_name);

// A case on a stream of its own.
class CaseOnStream {
 public:
  CaseOnStream(const OperatorDescriptor& op, const RungRow& rung, lab::HostProblem& host, Device device)
      : op_(op), rung_(rung), problem_(lab::DeviceProblem::create(host, device).value()) {}

  Status poison() { return problem_.prepare(kPoison); }
  Status call(Context& context) { return run_rung(op_, rung_, context, problem_.args()); }
  [[nodiscard]] StreamRef stream() const { return problem_.stream(); }
  [[nodiscard]] bool overwrites_inputs() { return problem_.make_renewal().value() != nullptr; }
  // Waits for the stream.
  [[nodiscard]] Outputs results() const {
    std::string outside;
    Outputs outputs = problem_.download_written(kPoison, outside).value();
    EXPECT_EQ(outside, "");
    return outputs;
  }

 private:
  const OperatorDescriptor& op_;
  const RungRow& rung_;
  lab::DeviceProblem problem_;
};

// What the results of one case are held against: the call's by itself, which the case's judge found right.
class Expected {
 public:
  Expected(lab::HostProblem& host, Determinism determinism, Outputs alone)
      : host_(host), is_exact_(determinism == Determinism::run_to_run), alone_(std::move(alone)) {
    const Judgement judgement = host_.judge(alone_).value();
    EXPECT_EQ(judgement.mismatch, "");
    results_ = judgement.results;
  }
  void expect(const Outputs& outputs, const std::string& what) {
    if (!is_exact_) {
      EXPECT_EQ(host_.judge(outputs).value().mismatch, "") << what;
      return;
    }
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      std::size_t bytes = alone_[i].bytes();
      if (i < results_.size()) bytes = static_cast<std::size_t>(results_[i]) * size_of(alone_[i].dtype());
      if (bytes == 0) continue;
      EXPECT_EQ(std::memcmp(outputs[i].data(), alone_[i].data(), bytes), 0) << what << ", output " << i;
    }
  }

 private:
  lab::HostProblem& host_;
  bool is_exact_;
  Outputs alone_;
  std::vector<std::int64_t> results_;  // of each output how many elements are results; none: all
};

TEST_P(Graphs, AndStreamsHaveTheBitsOfACallByItself) {
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu || !rung.wrong_on_purpose.empty()) continue;
    for (const Case& c : cases_of(rung)) {
      SCOPED_TRACE(rung.id + "[" + case_id(c) + "]");
      lab::HostProblem host = lab::HostProblem::create(*op_, *cases_, c).value();
      CaseOnStream one(*op_, rung, host, kGpu);
      std::optional<Expected> expected;
      GraphExec exec;
      {
        Context context = Context::on(one.stream());
        ASSERT_TRUE(one.poison().ok());
        ASSERT_TRUE(one.call(context).ok());
        ASSERT_TRUE(context.synchronize().ok());
        expected.emplace(host, rung.determinism, one.results());
        const Result<Graph> graph = Graph::record(context, [&] { return one.call(context); });
        ASSERT_TRUE(graph.ok()) << graph.status();
        exec = GraphExec::instantiate(*graph).value();
      }
      for (int replay = 0; replay < 2; ++replay) {
        ASSERT_TRUE(one.poison().ok());
        ASSERT_TRUE(exec.launch(one.stream()).ok());
        ASSERT_TRUE(synchronize(one.stream()).ok());
        expected->expect(one.results(), "replay " + std::to_string(replay));
      }

      CaseOnStream other(*op_, rung, host, kGpu);
      Context context = Context::on(one.stream());
      Context context_of_other = Context::on(other.stream());
      ASSERT_TRUE(one.poison().ok());
      ASSERT_TRUE(other.poison().ok());
      const int calls = one.overwrites_inputs() ? 1 : 10;
      for (int i = 0; i < calls; ++i) {
        ASSERT_TRUE(one.call(context).ok());
        ASSERT_TRUE(other.call(context_of_other).ok());
      }
      ASSERT_TRUE(context.synchronize().ok());
      ASSERT_TRUE(context_of_other.synchronize().ok());
      expected->expect(one.results(), "one of two streams");
      expected->expect(other.results(), "the other of two streams");
    }
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
