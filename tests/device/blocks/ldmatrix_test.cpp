// ldmatrix against a plain loop: every form, rows that lie anywhere, one row named by several lanes.
#include "rooftile/core/dtype.h"
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/ldmatrix_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr std::size_t kLanes = 32;

class Ldmatrix : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(Ldmatrix);

TEST_P(Ldmatrix, EveryFormFromRowsThatLieAnywhere) {
  std::vector<std::uint32_t> memory(kMatrixMemory / 4);  // every half another one
  for (std::uint32_t i = 0; i < memory.size(); ++i) memory[i] = 2 * i | (2 * i + 1) << 16;
  const auto half_at = [&](std::size_t byte) {
    return static_cast<std::uint16_t>(memory[byte / 4] >> 8 * (byte % 4));
  };
  const DeviceArray<std::uint32_t> g_in = upload(memory);
  std::mt19937 random(11);
  for (const std::size_t matrices : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      for (int time = 0; time < 20; ++time) {
        std::vector<std::uint32_t> rows(kLanes);
        // The first time in order; then anywhere, some of them twice.
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          rows[lane] =
              time == 0 ? 16 * lane : 16 * static_cast<std::uint32_t>(random() % (kMatrixMemory / 16));
          if (time > 10 && lane % 2 == 1) rows[lane] = rows[lane - 1];
        }
        const DeviceArray<std::uint32_t> g_rows = upload(rows);
        const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(kLanes * matrices);
        ASSERT_TRUE(is_ok(run_ldmatrix(stream(), static_cast<int>(matrices), transposed, g_in.data(),
                                       g_rows.data(), g_out.data())));
        const std::vector<std::uint32_t> out = g_out.read();
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          for (std::size_t i = 0; i < matrices; ++i) {
            std::uint32_t expected = 0;
            for (std::size_t e = 0; e < 2; ++e) {
              const std::size_t across = lane / 4;
              const std::size_t along = lane % 4 * 2 + e;
              const std::size_t row = transposed ? along : across;
              const std::size_t column = transposed ? across : along;
              expected |= static_cast<std::uint32_t>(half_at(rows[8 * i + row] + 2 * column)) << 16 * e;
            }
            ASSERT_EQ(out[lane * matrices + i], expected)
                << matrices << " matrices, transposed " << transposed << ", lane " << lane << ", r[" << i
                << "]";
          }
        }
      }
    }
  }
}

TEST_P(Ldmatrix, GivesTheFragmentsOfMma) {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  std::vector<double> a_values;
  std::vector<double> b_values;
  for (int i = 0; i < 256; ++i) a_values.push_back(i * 7 % 23 - 11);
  for (int i = 0; i < 128; ++i) b_values.push_back(i * 5 % 19 - 9);
  for (const double value : a_values) a.push_back(to_float16(value).bits);
  for (const double value : b_values) b.push_back(to_float16(value).bits);
  const DeviceArray<std::uint16_t> g_a = upload(a);
  const DeviceArray<std::uint16_t> g_b = upload(b);
  const DeviceArray<float> g_out = poisoned<float>(128);
  ASSERT_TRUE(is_ok(run_ldmatrix_mma(stream(), g_a.data(), g_b.data(), g_out.data())));
  const std::vector<float> out = g_out.read();
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 16; ++k) sum += a_values[row * 16 + k] * b_values[k * 8 + column];
      EXPECT_EQ(out[row * 8 + column], sum) << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
