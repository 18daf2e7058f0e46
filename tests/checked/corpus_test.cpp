// The corpus: right kernels stay silent and give what they should, a mistake is found at its line; in three lane
// orders, checked alone and counted.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <ostream>
#include <set>
#include <string_view>

#include "tests/checked/corpus/corpus.h"
#include "tests/checked/planted.h"

namespace rooftile::checked::corpus {

void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

}  // namespace rooftile::checked::corpus

namespace rooftile::checked_testing {
namespace {

using checked::corpus::kElements;
using checked::corpus::Kernel;

std::vector<Kernel> all_kernels() {
  using namespace checked::corpus;
  std::vector<Kernel> kernels;
  for (const std::span<const Kernel> list :
       {memory_kernels(), ending_kernels(), member_kernels(), store_kernels(), warp_kernels(),
        reduction_kernels(), ticket_kernels(), softmax_kernels(), norm_kernels(), attention_kernels(),
        matrix_kernels(), pipeline_kernels(), handshake_kernels(), stencil_kernels(), texture_kernels(),
        scan_kernels(), order_kernels(), layer_kernels(), body_kernels()}) {
    kernels.insert(kernels.end(), list.begin(), list.end());
  }
  return kernels;
}

// "tests/checked/corpus/memory_kernels.cu:41" of every line that bears this comment.
std::set<std::string> lines_with(const std::string& comment) {
  std::set<std::string> lines;
  for (const auto& file : std::filesystem::directory_iterator(ROOFTILE_CORPUS_DIR)) {
    std::ifstream text(file.path());
    std::string line;
    for (unsigned number = 1; std::getline(text, line); ++number) {
      if (line.ends_with("// " + comment)) {
        lines.insert(file.path().filename().string() + ":" + std::to_string(number));
      }
    }
  }
  return lines;
}

class Corpus : public ::testing::TestWithParam<std::tuple<Kernel, Schedule>> {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(Corpus, IsJudgedRightly) {
  const auto& [kernel, schedule] = GetParam();
  // What ends by the watchdog alone waits for it; what is right must not meet it on a busy machine.
  const bool hangs = kernel.finding != nullptr && std::string_view(kernel.finding) == "deadlock";
  // Several OS threads: blocks meet each other.
  ASSERT_TRUE(is_ok(simt::set_executor_config({.order = std::get<0>(schedule),
                                               .seed = 3,
                                               .workers = 3,
                                               .watchdog = std::chrono::milliseconds(hangs ? 100 : 10000)})));
  DeviceVector<float> in(kElements);
  std::iota(in.begin(), in.end(), 1.0f);
  DeviceVector<float> out(kElements, -1.0f);
  Status status;
  const Report report = watch(
      {.metrics = std::get<1>(schedule)}, {input("in", in), output("out", out)},
      [&, run = kernel.run] { return run(kStream, in.data(), out.data()); }, &status);
  for (const auto& line : report.accesses) EXPECT_FALSE(line.at.file.empty());
  for (const auto& sync : report.syncs) EXPECT_FALSE(sync.at.file.empty());
  if (kernel.finding == nullptr) {
    EXPECT_TRUE(is_ok(status));
    EXPECT_EQ(describe(report), "");
    std::set<std::string> remarks;
    for (const Finding& remark : report.remarks) {
      EXPECT_EQ(remark.kind, FindingKind::same_value);
      remarks.insert(to_string(remark.at));
    }
    EXPECT_EQ(remarks, lines_with("SAME VALUE " + std::string(kernel.name)));
  } else {
    const std::set<std::string> lines = lines_with("BUG " + std::string(kernel.name));
    ASSERT_FALSE(lines.empty()) << "no line has the comment BUG " << kernel.name;
    bool found = false;
    for (const Finding& finding : report.findings) {
      const bool at_line = lines.contains(to_string(finding.at)) || lines.contains(to_string(finding.other));
      const bool in_text =
          finding.at.file.empty() && std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
            return finding.what.find(line) != std::string::npos;
          });
      found = found || (std::string_view(to_string(finding.kind)) == kernel.finding && (at_line || in_text));
    }
    EXPECT_TRUE(found) << "no report of " << kernel.finding << " at its line among\n" << describe(report);
  }
  if (kernel.sectors != 0 && std::get<1>(schedule)) {
    const AccessCounts loads = report.total(MemorySpace::global, AccessKind::load);
    const AccessCounts stores = report.total(MemorySpace::global, AccessKind::store);
    EXPECT_EQ(loads.sectors + stores.sectors, kernel.sectors);
  }
  if (kernel.expected != nullptr) {
    std::vector<float> expected(kElements);
    kernel.expected(in.data(), expected.data());
    for (int i = 0; i < kElements; ++i) {
      const float allowed = kernel.tolerance * std::max(1.0f, std::abs(expected[i]));
      ASSERT_LE(std::abs(out[i] - expected[i]), allowed) << out[i] << " for " << expected[i] << " at " << i;
    }
  }
}

std::string corpus_name(const ::testing::TestParamInfo<std::tuple<Kernel, Schedule>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + name_of(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Long, Corpus,
                         ::testing::Combine(::testing::ValuesIn(all_kernels()), all_schedules()),
                         corpus_name);

}  // namespace
}  // namespace rooftile::checked_testing
