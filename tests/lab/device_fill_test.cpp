// The kernel that draws inputs, on the simulated SM.
#include "rooftile/lab/case/device_fill.h"

#include "tests/lab/fill_bits.h"

namespace rooftile::lab {
namespace {

TEST(DeviceFill, SimulatedDrawsTheHostsBits) {
  test::expect_same_bits(
      [](std::vector<unsigned char>& bytes, DType dtype, std::int64_t count, Fill fill, std::uint64_t seed,
         std::uint64_t tensor_index) {
        const Status status = sim::lab_kernels::fill_elements({kSim, nullptr}, bytes.data(), dtype, count,
                                                              fill, seed, tensor_index);
        EXPECT_TRUE(status.ok()) << status.message();
      },
      {0, 1, 3, 4, 5, 1023, 5000});
}

}  // namespace
}  // namespace rooftile::lab
