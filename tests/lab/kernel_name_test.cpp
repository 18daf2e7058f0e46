// The names that nvcc 13.0.88 and g++ 12 give to one kernel.
#include "rooftile/lab/inspect/kernel_name.h"

#include <gtest/gtest.h>

namespace rooftile::lab {
namespace {

TEST(KernelNames, AreOneForBothCompilers) {
  const std::string cuda = portable_kernel_name(
      "_ZN8rooftile4cuda12reduce_rungs50_GLOBAL__N__eb28456b_17_r80_vectorized_cu_67d5e78617vectorized_"
      "kernelINS1_3SumIfEEEEvPKfliPf");
  EXPECT_EQ(cuda,
            "reduce_rungs::vectorized_kernel<reduce_rungs::Sum<float>>(float const*, long, int, float*)");
  EXPECT_EQ(cuda, portable_kernel_name("_ZN8rooftile3sim12reduce_rungs12_GLOBAL__N_117vectorized_"
                                       "kernelINS1_3SumIfEEEEvPKfliPf"));
  EXPECT_EQ(short_kernel_name(cuda), "vectorized_kernel<Sum<float>>");
}

// The simulator has a type of its own for CUDA's.
TEST(KernelNames, KnowTheSimulatorsTypes) {
  EXPECT_EQ(portable_kernel_name("_ZN8rooftile3sim1kINS_4simt6detail6Real16INS_7Float16EEEEEvPT_"),
            portable_kernel_name("_ZN8rooftile4cuda1kI6__halfEEvPT_"));
  EXPECT_EQ(portable_kernel_name("_ZN8rooftile3sim1kENS_4simt6float4E"),
            portable_kernel_name("_ZN8rooftile4cuda1kE6float4"));
  EXPECT_NE(portable_kernel_name("_ZN8rooftile4cuda1kI6__halfEEvPT_"),
            portable_kernel_name("_ZN8rooftile4cuda1kI13__nv_bfloat16EEvPT_"));
}

TEST(KernelNames, AreTheSameOfARungInUnits) {
  const std::string unit =
      portable_kernel_name("_ZN8rooftile4cuda8unit_f164norm1kINS2_7CentredE6__halfEEvT0_");
  EXPECT_EQ(unit, "norm::k<norm::Centred, __half>(__half)");
  EXPECT_EQ(unit, portable_kernel_name("_ZN8rooftile4cuda4norm1kINS1_7CentredE6__halfEEvT0_"));
}

TEST(KernelNames, AreShortenedOutsideOfTheirArguments) {
  EXPECT_EQ(short_kernel_name("ops::k<(ops::Mode)3, ops::Tile<4, 2>>(ops::Tile<4, 2>, void (*)(int))"),
            "k<(Mode)3, Tile<4, 2>>");
  EXPECT_EQ(short_kernel_name("plain"), "plain");
  EXPECT_EQ(portable_kernel_name("no_cxx_symbol"), "no_cxx_symbol");
}

}  // namespace
}  // namespace rooftile::lab
