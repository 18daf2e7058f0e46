// ldmatrix of rows that it cannot read: on the simulated SM alone, because the fault would end a process's use of the GPU.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/ldmatrix_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class SimLdmatrix : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(SimLdmatrix);

TEST_P(SimLdmatrix, ARowThatCannotBeReadNamesTheLine) {
  const DeviceArray<std::uint16_t> g_rows = poisoned<std::uint16_t>(256);
  const Status misaligned = run_misused_ldmatrix(stream(), LdmatrixMisuse::misaligned, g_rows.data());
  EXPECT_NE(misaligned.message().find("ldmatrix: the shared-memory address must be aligned to 16 bytes"),
            std::string::npos)
      << misaligned.message();
  EXPECT_NE(misaligned.message().find("ldmatrix_kernels.cu:"), std::string::npos) << misaligned.message();
  const Status global = run_misused_ldmatrix(stream(), LdmatrixMisuse::global_memory, g_rows.data());
  EXPECT_NE(
      global.message().find("ldmatrix: 16 bytes from this address are not in the block's shared memory"),
      std::string::npos)
      << global.message();
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
