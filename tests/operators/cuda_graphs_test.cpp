// Every rung of every operator on a GPU: recorded and replayed when neither Graph nor Context is there any more, and on two
// streams at once: the bits of a call by itself. What these are worth `rooftile verify` judges.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/lab/case/problem.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using Outputs = std::vector<HostTensor>;

constexpr Device kGpu = cuda_device(0);
constexpr int kPoison = 0xFF;
// Cases of a rung: as many as say something of graphs, spread over its quick ones.
constexpr std::size_t kCases = 5;
// Calls that one graph holds where two streams run at once: one small call hardly meets another.
constexpr int kCalls = 10;

class Graphs : public OperatorTest {
 protected:
  void SetUp() override {
    if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability().message();
    OperatorTest::SetUp();
  }

  struct RungCases {
    const RungRow* rung;
    std::vector<Case> cases;
  };
  // Of each rung the quick cases that it serves, kCases of them at most.
  std::vector<RungCases> cases_of_rungs() const {
    std::vector<RungCases> rungs;
    for (const RungRow& rung : op_->rungs) {
      if (rung.kind == RungKind::gpu && rung.wrong_on_purpose.empty()) rungs.push_back({&rung, {}});
    }
    for (const Case& c : cases_->cases()) {
      if (c.tier != CaseTier::quick) continue;
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      if (!host.ok()) continue;
      const Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kGpu);
      if (!problem.ok() || writes_nothing(*op_, problem->args())) continue;
      for (RungCases& of : rungs) {
        if (unsupported_reason(*of.rung, problem->args(), problem->properties()).empty())
          of.cases.push_back(c);
      }
    }
    for (RungCases& of : rungs) {
      std::vector<Case> spread;
      const std::size_t count = std::min(kCases, of.cases.size());
      for (std::size_t i = 0; i < count; ++i) spread.push_back(of.cases[i * of.cases.size() / count]);
      of.cases = std::move(spread);
    }
    return rungs;
  }
};
INSTANTIATE_TEST_SUITE_P(Operators, Graphs, ::testing::ValuesIn(operator_names()), operator_name);

// A case on a stream of its own.
class CaseOnStream {
 public:
  CaseOnStream(const OperatorDescriptor& op, const RungRow& rung, lab::HostProblem& host)
      : op_(op), rung_(rung), problem_(lab::DeviceProblem::create(host, kGpu).value()) {}

  Status poison() { return problem_.prepare(kPoison); }
  Status call(Context& context) { return run_rung(op_, rung_, context, problem_.args()); }
  // So many calls, of which Graph and Context are gone when this returns.
  Result<GraphExec> record(int calls) {
    Context context = Context::on(stream());
    ROOFTILE_TRY_ASSIGN(const Graph graph, Graph::record(context, [&]() -> Status {
                          for (int i = 0; i < calls; ++i) ROOFTILE_TRY(call(context));
                          return {};
                        }));
    return GraphExec::instantiate(graph);
  }
  [[nodiscard]] WorkspaceSpec workspace() const {
    return plan_rung(rung_, problem_.args(), problem_.properties()).workspace;
  }
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

// Allocated when a recorded call's Graph and Context have gone: memory of the size that their workspaces had, which they would
// have left free. No launch may write to it.
class Neighbours {
 public:
  Neighbours(StreamRef stream, const WorkspaceSpec& spec) : stream_(stream) {
    for (const std::size_t bytes : {spec.bytes, spec.zeroed_bytes}) {
      for (int i = 0; bytes > 0 && i < 4; ++i) {
        buffers_.push_back(lab::GuardedBuffer::create(stream, bytes).value());
        EXPECT_TRUE(buffers_.back().poison(stream, kPattern).ok());
      }
    }
  }
  void expect_untouched() const {
    for (const lab::GuardedBuffer& buffer : buffers_) {
      const std::vector<unsigned char> pattern(buffer.bytes(), kPattern);
      EXPECT_EQ(lab::first_difference(stream_, buffer.data(), pattern.data(), pattern.size()).value(),
                pattern.size());
      EXPECT_EQ(buffer.broken_guard(stream_).value(), "");
    }
  }

 private:
  static constexpr int kPattern = 0x5A;
  StreamRef stream_;
  std::vector<lab::GuardedBuffer> buffers_;
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
  for (const RungCases& of : cases_of_rungs()) {
    for (const Case& c : of.cases) {
      SCOPED_TRACE(of.rung->id + "[" + case_id(c) + "]");
      lab::HostProblem host = lab::HostProblem::create(*op_, *cases_, c).value();
      CaseOnStream one(*op_, *of.rung, host);
      std::optional<Expected> expected;
      {
        Context context = Context::on(one.stream());
        ASSERT_TRUE(one.poison().ok());
        ASSERT_TRUE(one.call(context).ok());
        ASSERT_TRUE(context.synchronize().ok());
        expected.emplace(host, of.rung->determinism, one.results());
      }
      const Result<GraphExec> alone = one.record(1);
      ASSERT_TRUE(alone.ok()) << alone.status();
      const Neighbours neighbours(one.stream(), one.workspace());
      for (int replay = 0; replay < 2; ++replay) {
        ASSERT_TRUE(one.poison().ok());
        ASSERT_TRUE(alone->launch(one.stream()).ok());
        ASSERT_TRUE(synchronize(one.stream()).ok());
        expected->expect(one.results(), "replay " + std::to_string(replay));
      }
      neighbours.expect_untouched();

      CaseOnStream other(*op_, *of.rung, host);
      const int calls = one.overwrites_inputs() ? 1 : kCalls;
      const GraphExec of_one = one.record(calls).value();
      const GraphExec of_other = other.record(calls).value();
      ASSERT_TRUE(one.poison().ok());
      ASSERT_TRUE(other.poison().ok());
      ASSERT_TRUE(of_one.launch(one.stream()).ok());
      ASSERT_TRUE(of_other.launch(other.stream()).ok());
      ASSERT_TRUE(synchronize(one.stream()).ok());
      ASSERT_TRUE(synchronize(other.stream()).ok());
      expected->expect(one.results(), "one of two streams");
      expected->expect(other.results(), "the other of two streams");
    }
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
