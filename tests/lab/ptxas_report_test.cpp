// What nvcc 13.0.88 said of kernels.
#include "rooftile/lab/inspect/ptxas_report.h"

#include <gtest/gtest.h>

namespace rooftile::lab {
namespace {

TEST(PtxasReport, ReadsEveryKernel) {
  const std::vector<KernelResources> kernels = parse_ptxas_report(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z6spillyPii' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z6spillyPii\n"
      "    928 bytes stack frame, 2032 bytes spill stores, 2084 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 4 barriers, 928 bytes cumulative stack size, 320 bytes smem, "
      "364 "
      "bytes cmem[0]\n"
      "ptxas info    : Compile time = 78.206 ms\n"
      "ptxas info    : Function properties for _Z6helperPii\n"
      "    0 bytes stack frame, 200 bytes spill stores, 200 bytes spill loads\n"
      "ptxas info    : Compiling entry function '_Z5plainPi' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z5plainPi\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].symbol, "_Z6spillyPii");
  EXPECT_EQ(kernels[0].registers, 32);
  EXPECT_EQ(kernels[0].stack_bytes, 928);
  EXPECT_EQ(kernels[0].spill_stores, 2032);
  EXPECT_EQ(kernels[0].spill_loads, 2084);
  EXPECT_EQ(kernels[0].shared_bytes, 320);
  EXPECT_EQ(kernels[0].barriers, 4);
  EXPECT_EQ(kernels[1].symbol, "_Z5plainPi");
  EXPECT_EQ(kernels[1].registers, 8);
  EXPECT_EQ(kernels[1].shared_bytes, 0);
  EXPECT_EQ(kernels[1].spill_stores, 0);
}

// A function that is called needs a stack that only the sum names.
TEST(PtxasReport, CountsTheStackOfCalls) {
  const std::vector<KernelResources> kernels = parse_ptxas_report(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for f\n"
      "    64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 64 bytes cumulative stack size\n");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].stack_bytes, 64);
  EXPECT_EQ(kernels[0].spill_stores, 0);
}

TEST(PtxasReport, OfNothingIsEmpty) { EXPECT_TRUE(parse_ptxas_report("nvcc fatal   : no\n").empty()); }

}  // namespace
}  // namespace rooftile::lab
