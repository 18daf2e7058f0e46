// cp.async at misaligned addresses: on the simulated SM alone, because the fault would end a process's use of
// the GPU.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/cp_async_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class SimCpAsync : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(SimCpAsync);

TEST_P(SimCpAsync, AMisalignedAddressNamesTheLine) {
  const DeviceArray<unsigned char> g_in = poisoned<unsigned char>(64);
  for (const int bytes : {4, 8, 16}) {
    const Status target = run_misaligned_cp_async(stream(), bytes, bytes / 2, 0, g_in.data());
    EXPECT_NE(target.message().find("cp.async to shared memory of " + std::to_string(bytes) +
                                    " bytes at an address that is " + std::to_string(bytes / 2)),
              std::string::npos)
        << target.message();
    const Status source = run_misaligned_cp_async(stream(), bytes, 0, bytes / 2, g_in.data());
    EXPECT_NE(source.message().find("cp.async from global memory of "), std::string::npos)
        << source.message();
    EXPECT_NE(source.message().find("cp_async_kernels.cu:"), std::string::npos) << source.message();
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
