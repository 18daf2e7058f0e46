// Every rung of every operator on a GPU: recorded and replayed when neither Graph nor Context is there any more, and on two
// streams at once: the bits of a call by itself. What these are worth `rooftile verify` judges.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
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
constexpr int kTurns = 4;

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
  // Of each rung the quick cases that it serves, kCases of them at most; one with a workspace among them, where there is one.
  void find_cases(std::vector<RungCases>& rungs) const {
    for (const RungRow& rung : op_->rungs) {
      if (rung.kind == RungKind::gpu && rung.wrong_on_purpose.empty()) rungs.push_back({&rung, {}});
    }
    std::vector<std::vector<Case>> without(rungs.size());
    for (const Case& c : cases_->cases()) {
      if (c.tier != CaseTier::quick) continue;
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      ASSERT_TRUE(host.ok()) << case_id(c) << ": " << host.status();
      const Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kGpu);
      ASSERT_TRUE(problem.ok()) << case_id(c) << ": " << problem.status();
      if (writes_nothing(*op_, problem->args())) continue;
      for (std::size_t i = 0; i < rungs.size(); ++i) {
        if (!unsupported_reason(*rungs[i].rung, problem->args(), problem->properties()).empty()) continue;
        const WorkspaceSpec spec =
            plan_rung(*rungs[i].rung, problem->args(), problem->properties()).workspace;
        (spec.bytes + spec.zeroed_bytes > 0 ? rungs[i].cases : without[i]).push_back(c);
      }
    }
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      std::vector<Case>& cases = rungs[i].cases;
      cases.insert(cases.end(), without[i].begin(), without[i].end());
      std::vector<Case> spread;
      const std::size_t count = std::min(kCases, cases.size());
      for (std::size_t k = 0; k < count; ++k) spread.push_back(cases[k * cases.size() / count]);
      cases = std::move(spread);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Operators, Graphs, ::testing::ValuesIn(operator_names()), operator_name);

// A case on a stream of its own.
class CaseOnStream {
 public:
  CaseOnStream(const OperatorDescriptor& op, const RungRow& rung, lab::DeviceProblem problem)
      : op_(op), rung_(rung), problem_(std::move(problem)) {}

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
  [[nodiscard]] Result<bool> overwrites_inputs() {
    ROOFTILE_TRY_ASSIGN(const std::function<Status()> renew, problem_.make_renewal());
    return renew != nullptr;
  }
  // Waits for the stream.
  [[nodiscard]] Result<Outputs> results() const {
    std::string outside;
    Result<Outputs> outputs = problem_.download_written(kPoison, outside);
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
  static Result<Neighbours> create(StreamRef stream, const WorkspaceSpec& spec) {
    Neighbours neighbours;
    neighbours.stream_ = stream;
    for (const std::size_t bytes : {spec.bytes, spec.zeroed_bytes}) {
      for (int i = 0; bytes > 0 && i < 4; ++i) {
        ROOFTILE_TRY_ASSIGN(DeviceMemory memory, DeviceMemory::allocate(kGpu, bytes));
        ROOFTILE_TRY(fill_bytes(stream, memory.data(), kPattern, bytes));
        neighbours.buffers_.push_back(std::move(memory));
      }
    }
    return neighbours;
  }
  void expect_untouched() const {
    for (const DeviceMemory& buffer : buffers_) {
      const std::vector<unsigned char> pattern(buffer.bytes(), kPattern);
      const Result<std::size_t> first =
          lab::first_difference(stream_, buffer.data(), pattern.data(), pattern.size());
      ASSERT_TRUE(first.ok()) << first.status();
      EXPECT_EQ(*first, pattern.size());
    }
  }

 private:
  static constexpr int kPattern = 0x5A;
  StreamRef stream_;
  std::vector<DeviceMemory> buffers_;
};

// What the results of one case are held against: the call's by itself, which the case's judge found right.
class Expected {
 public:
  static Result<Expected> create(lab::HostProblem& host, Determinism determinism, Outputs alone) {
    ROOFTILE_TRY_ASSIGN(const Judgement judgement, host.judge(alone));
    EXPECT_EQ(judgement.mismatch, "");
    return Expected(host, determinism, std::move(alone), judgement.results);
  }
  void expect(const Result<Outputs>& outputs, const std::string& what) {
    ASSERT_TRUE(outputs.ok()) << what << ": " << outputs.status();
    if (!is_exact_) {
      const Result<Judgement> judgement = host_.judge(*outputs);
      ASSERT_TRUE(judgement.ok()) << what << ": " << judgement.status();
      EXPECT_EQ(judgement->mismatch, "") << what;
      return;
    }
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      std::size_t bytes = alone_[i].bytes();
      if (i < results_.size()) bytes = static_cast<std::size_t>(results_[i]) * size_of(alone_[i].dtype());
      if (bytes == 0) continue;
      EXPECT_EQ(std::memcmp((*outputs)[i].data(), alone_[i].data(), bytes), 0) << what << ", output " << i;
    }
  }

 private:
  Expected(lab::HostProblem& host, Determinism determinism, Outputs alone, std::vector<std::int64_t> results)
      : host_(host),
        is_exact_(determinism == Determinism::run_to_run),
        alone_(std::move(alone)),
        results_(std::move(results)) {}

  lab::HostProblem& host_;
  bool is_exact_;
  Outputs alone_;
  std::vector<std::int64_t> results_;  // of each output how many elements are results; none: all
};

// Recorded once, replayed when Graph and Context have gone.
void expect_replays(CaseOnStream& one, Expected& expected) {
  const Result<GraphExec> alone = one.record(1);
  ASSERT_TRUE(alone.ok()) << alone.status();
  const Result<Neighbours> neighbours = Neighbours::create(one.stream(), one.workspace());
  ASSERT_TRUE(neighbours.ok()) << neighbours.status();
  for (int replay = 0; replay < 2; ++replay) {
    ASSERT_TRUE(one.poison().ok());
    ASSERT_TRUE(alone->launch(one.stream()).ok());
    expected.expect(one.results(), "replay " + std::to_string(replay));
  }
  neighbours->expect_untouched();
}

// The same call with tensors of its own on either stream, many times in turns where it may run again.
void expect_two_streams(CaseOnStream& one, CaseOnStream& other, Expected& expected) {
  const Result<bool> once = one.overwrites_inputs();
  ASSERT_TRUE(once.ok()) << once.status();
  const Result<GraphExec> of_one = one.record(*once ? 1 : kCalls);
  const Result<GraphExec> of_other = other.record(*once ? 1 : kCalls);
  ASSERT_TRUE(of_one.ok()) << of_one.status();
  ASSERT_TRUE(of_other.ok()) << of_other.status();
  const auto launch_both = [&]() -> Status {
    ROOFTILE_TRY(of_one->launch(one.stream()));
    return of_other->launch(other.stream());
  };
  // The first launch of a graph brings it to the GPU, for longer than a small one runs.
  ASSERT_TRUE(launch_both().ok());
  ASSERT_TRUE(synchronize(one.stream()).ok());
  ASSERT_TRUE(synchronize(other.stream()).ok());
  ASSERT_TRUE(one.poison().ok());
  ASSERT_TRUE(other.poison().ok());
  for (int turn = 0; turn < (*once ? 1 : kTurns); ++turn) ASSERT_TRUE(launch_both().ok());
  expected.expect(one.results(), "one of two streams");
  expected.expect(other.results(), "the other of two streams");
}

TEST_P(Graphs, AndStreamsHaveTheBitsOfACallByItself) {
  std::vector<RungCases> rungs;
  ASSERT_NO_FATAL_FAILURE(find_cases(rungs));
  std::size_t found = 0;
  for (const RungCases& of : rungs) {
    found += of.cases.size();
    for (const Case& c : of.cases) {
      SCOPED_TRACE(of.rung->id + "[" + case_id(c) + "]");
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      ASSERT_TRUE(host.ok()) << host.status();
      Result<lab::DeviceProblem> first = lab::DeviceProblem::create(*host, kGpu);
      Result<lab::DeviceProblem> second = lab::DeviceProblem::create(*host, kGpu);
      ASSERT_TRUE(first.ok()) << first.status();
      ASSERT_TRUE(second.ok()) << second.status();
      CaseOnStream one(*op_, *of.rung, *std::move(first));
      CaseOnStream other(*op_, *of.rung, *std::move(second));
      {
        Context context = Context::on(one.stream());
        ASSERT_TRUE(one.poison().ok());
        ASSERT_TRUE(one.call(context).ok());
        ASSERT_TRUE(context.synchronize().ok());
      }
      Result<Outputs> alone = one.results();
      ASSERT_TRUE(alone.ok()) << alone.status();
      Result<Expected> expected = Expected::create(*host, of.rung->determinism, *std::move(alone));
      ASSERT_TRUE(expected.ok()) << expected.status();
      ASSERT_NO_FATAL_FAILURE(expect_replays(one, *expected));
      ASSERT_NO_FATAL_FAILURE(expect_two_streams(one, other, *expected));
    }
  }
  if (found == 0) GTEST_SKIP() << "no rung serves a quick case here";
}

}  // namespace
}  // namespace rooftile::operators_testing
