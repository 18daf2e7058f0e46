// The kernel that draws inputs, on a GPU.
#include "rooftile/lab/case/device_fill.h"
#include "tests/core/cuda_testing.h"
#include "tests/lab/fill_bits.h"

namespace rooftile::lab {
namespace {

class CudaFill : public CudaTest {};

TEST_F(CudaFill, DrawsTheHostsBits) {
  const Result<Stream> stream = Stream::create(cuda_device(0));
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  const StreamRef ref = stream->ref();
  test::expect_same_bits(
      [ref](std::vector<unsigned char>& bytes, DType dtype, std::int64_t count, Fill fill, std::uint64_t seed,
            std::uint64_t tensor_index) {
        const Result<DeviceMemory> memory = DeviceMemory::allocate(ref.device, bytes.size());
        ASSERT_TRUE(memory.ok()) << memory.status().message();
        ASSERT_TRUE(fill_bytes(ref, memory->data(), 0xA5, bytes.size()).ok());
        const Status status =
            cuda::lab_kernels::fill_elements(ref, memory->data(), dtype, count, fill, seed, tensor_index);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_TRUE(copy(ref, bytes.data(), kCpu, memory->data(), ref.device, bytes.size()).ok());
        ASSERT_TRUE(synchronize(ref).ok());
      },
      {0, 1, 3, 4, 5, 1023, 5000, 4194309});
}

}  // namespace
}  // namespace rooftile::lab
