// Matrix operations that must fail: each ends with a Status that says what and where.
#include <fstream>

#include "tests/sim/sim_test.h"
#include "tests/sim/wmma_kernels.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

// "wmma_kernels.cu:LINE" of the n-th line after the case's label that holds `text`.
std::string line_of(const std::string& label, const std::string& text, int n = 1) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/') + 1) + "wmma_kernels.cu");
  bool found_label = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    found_label = found_label || line.find("case WmmaMisuse::" + label + ":") != std::string::npos;
    if (found_label && line.find(text) != std::string::npos && --n == 0) {
      return "wmma_kernels.cu:" + std::to_string(number);
    }
  }
  ADD_FAILURE() << label << ": no line " << n << " with " << text;
  return "";
}

class WmmaMisuses : public ::testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override { use(GetParam(), std::chrono::milliseconds(150)); }

  static Status run(WmmaMisuse misuse) {
    alignas(256) std::uint16_t matrix[1024] = {};
    alignas(256) float out[512] = {};
    const Status status = run_wmma_misuse(kStream, misuse, matrix, out);
    EXPECT_EQ(status.code(), StatusCode::device_error);
    return status;
  }
};
INSTANTIATE_TEST_SUITE_P(Sim, WmmaMisuses, ::testing::ValuesIn(kSchedules), schedule_name);

TEST_P(WmmaMisuses, MissingLane) {
  const Status status = run(WmmaMisuse::missing_lane);
  EXPECT_TRUE(mentions(status, "deadlock"));
  EXPECT_TRUE(
      mentions(status, "31 of 32 threads wait in wmma::mma_sync at " + line_of("missing_lane", "mma_sync")));
  EXPECT_TRUE(mentions(status, "1 of 32 threads wait in __syncthreads"));
}

TEST_P(WmmaMisuses, ExitedLane) {
  const Status status = run(WmmaMisuse::exited_lane);
  EXPECT_TRUE(mentions(status, "deadlock"));
  EXPECT_TRUE(
      mentions(status, "31 of 32 threads wait in wmma::mma_sync at " + line_of("exited_lane", "mma_sync")));
  EXPECT_TRUE(mentions(status, "1 have returned"));
}

TEST_P(WmmaMisuses, OtherCollective) {
  const Status status = run(WmmaMisuse::other_collective);
  EXPECT_TRUE(mentions(status, "wmma::mma_sync at " + line_of("other_collective", "mma_sync")));
  EXPECT_TRUE(mentions(status, "__shfl_sync at " + line_of("other_collective", "__shfl_sync")));
  EXPECT_TRUE(mentions(status, "must call the same collective"));
}

TEST_P(WmmaMisuses, OtherCallAndOtherPlace) {
  for (const auto& [misuse, label] :
       {std::pair{WmmaMisuse::other_call, "other_call"}, std::pair{WmmaMisuse::other_place, "other_place"}}) {
    const Status status = run(misuse);
    EXPECT_TRUE(mentions(
        status, "wmma::load_matrix_sync at " + line_of(label, "load_matrix_sync", 1) + " by lane 0"));
    EXPECT_TRUE(mentions(status, "but at " + line_of(label, "load_matrix_sync", 2) + " by lane 16"));
  }
}

TEST_P(WmmaMisuses, OtherPointerAndOtherStride) {
  for (const auto& [misuse, label] : {std::pair{WmmaMisuse::other_pointer, "other_pointer"},
                                      std::pair{WmmaMisuse::other_stride, "other_stride"}}) {
    const Status status = run(misuse);
    EXPECT_TRUE(
        mentions(status, line_of(label, "load_matrix_sync") + ": lane 9 calls it with other arguments"));
  }
}

TEST_P(WmmaMisuses, Misaligned) {
  const Status status = run(WmmaMisuse::misaligned);
  EXPECT_TRUE(mentions(status, "must start at a multiple of 32 bytes, and is 16 bytes past"));
  EXPECT_TRUE(mentions(status, line_of("misaligned", "load_matrix_sync")));
}

TEST_P(WmmaMisuses, WrongStride) {
  const Status status = run(WmmaMisuse::wrong_stride);
  EXPECT_TRUE(mentions(status, "must be a multiple of 8 elements (16 bytes), not 20"));
  EXPECT_TRUE(mentions(status, line_of("wrong_stride", "load_matrix_sync")));
  const Status of_floats = run(WmmaMisuse::wrong_stride_of_floats);
  EXPECT_TRUE(mentions(of_floats, "wmma::store_matrix_sync"));
  EXPECT_TRUE(mentions(of_floats, "must be a multiple of 4 elements (16 bytes), not 18"));
}

}  // namespace
}  // namespace rooftile::sim_testing
