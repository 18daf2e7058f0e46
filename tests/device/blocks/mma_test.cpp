// mma.sync against a plain loop in double: the place of every element of every fragment, and all bits of the operands.
#include <algorithm>
#include <cmath>

#include "rooftile/core/dtype.h"
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/mma_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kColumns = 8;
constexpr std::size_t kLanes = 32;

std::uint16_t bits_of(MmaForm form, double value) {
  return form.bfloat ? to_bfloat16(value).bits : to_float16(value).bits;
}
double value_of(MmaForm form, std::uint16_t bits) {
  return form.bfloat ? to_float(BFloat16{bits}) : to_float(Float16{bits});
}

// A product as matrices, and as PTX's figures hand them to the lanes: rows and columns of element i of a lane.
struct Product {
  explicit Product(MmaForm of) : form(of), a(kRows * depth()), b(depth() * kColumns), c(kRows * kColumns) {}
  MmaForm form;
  std::vector<double> a, b, c;

  [[nodiscard]] std::size_t depth() const { return static_cast<std::size_t>(form.depth); }
  [[nodiscard]] std::vector<std::uint32_t> a_registers() const {
    std::vector<std::uint32_t> registers;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t i = 0; i < depth() / 4; ++i) {
        const std::size_t row = lane / 4 + 8 * (i % 2);
        const std::size_t column = lane % 4 * 2 + 8 * (i / 2);
        registers.push_back(pair(a[row * depth() + column], a[row * depth() + column + 1]));
      }
    }
    return registers;
  }
  [[nodiscard]] std::vector<std::uint32_t> b_registers() const {
    std::vector<std::uint32_t> registers;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t i = 0; i < depth() / 8; ++i) {
        const std::size_t row = lane % 4 * 2 + 8 * i;
        registers.push_back(pair(b[row * kColumns + lane / 4], b[(row + 1) * kColumns + lane / 4]));
      }
    }
    return registers;
  }
  [[nodiscard]] std::vector<float> c_registers() const {
    std::vector<float> registers;
    for (std::size_t at = 0; at < kLanes * 4; ++at) registers.push_back(static_cast<float>(c[sum_at(at)]));
    return registers;
  }
  // Which sum is register at % 4 of lane at / 4.
  static std::size_t sum_at(std::size_t at) {
    const std::size_t lane = at / 4;
    return (lane / 4 + at % 4 / 2 * 8) * kColumns + lane % 4 * 2 + at % 2;
  }
  [[nodiscard]] double expected(std::size_t at) const {
    const std::size_t row = sum_at(at) / kColumns;
    const std::size_t column = sum_at(at) % kColumns;
    double sum = c[sum_at(at)];
    for (std::size_t k = 0; k < depth(); ++k) sum += a[row * depth() + k] * b[k * kColumns + column];
    return sum;
  }

 private:
  [[nodiscard]] std::uint32_t pair(double low, double high) const {
    return bits_of(form, low) | static_cast<std::uint32_t>(bits_of(form, high)) << 16;
  }
};

class Mma : public BlockTest {
 protected:
  [[nodiscard]] std::vector<float> run(const Product& product) const {
    const DeviceArray<std::uint32_t> g_a = upload(product.a_registers());
    const DeviceArray<std::uint32_t> g_b = upload(product.b_registers());
    const DeviceArray<float> g_c = upload(product.c_registers());
    const DeviceArray<float> g_d = poisoned<float>(kLanes * 4);
    EXPECT_TRUE(is_ok(run_mma(stream(), product.form, g_a.data(), g_b.data(), g_c.data(), g_d.data())));
    return g_d.read();
  }
  void expect_exact(const Product& product, const std::string& what) const {
    const std::vector<float> d = run(product);
    for (std::size_t at = 0; at < d.size(); ++at) {
      ASSERT_EQ(d[at], product.expected(at)) << what << ", register " << at % 4 << " of lane " << at / 4;
    }
  }
};
ROOFTILE_ON_EVERY_ORDER(Mma);

std::string name_of(MmaForm form) {
  return std::string(form.bfloat ? "bf16" : "f16") + ", k = " + std::to_string(form.depth);
}

// Small integers: every sum is exact, and another one for each place.
TEST_P(Mma, IntegersAreExact) {
  std::mt19937 random(3);
  const auto draw = [&] { return static_cast<double>(static_cast<int>(random() % 17) - 8); };
  for (const MmaForm form : kMmaForms) {
    for (int time = 0; time < 8; ++time) {
      Product product(form);
      for (double& value : product.a) value = draw();
      for (double& value : product.b) value = draw();
      for (double& value : product.c) value = draw() * 100;
      expect_exact(product, name_of(form));
    }
  }
}

// One element of a, and of b, is not 0: each in turn, so that none can take another's place.
TEST_P(Mma, EveryElementHasItsPlace) {
  for (const MmaForm form : kMmaForms) {
    for (std::size_t at = 0; at < Product(form).a.size(); ++at) {
      Product product(form);
      product.a[at] = 2;
      for (std::size_t i = 0; i < product.b.size(); ++i) product.b[i] = static_cast<double>(i + 1);
      expect_exact(product, name_of(form) + ", a of " + std::to_string(at));
    }
    for (std::size_t at = 0; at < Product(form).b.size(); ++at) {
      Product product(form);
      product.b[at] = 2;
      for (std::size_t i = 0; i < product.a.size(); ++i) product.a[i] = static_cast<double>(i + 1);
      expect_exact(product, name_of(form) + ", b of " + std::to_string(at));
    }
  }
}

// Every finite pattern of 16 bits, denormals too, is the one addend of a sum that is not 0.
TEST_P(Mma, EveryOperandKeepsItsBits) {
  for (const MmaForm form : kMmaForms) {
    std::vector<double> values;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const double value = value_of(form, static_cast<std::uint16_t>(bits));
      if (std::isfinite(value)) values.push_back(value);
    }
    for (std::size_t first = 0; first < values.size(); first += Product(form).a.size()) {
      Product product(form);
      double most = 0;
      for (std::size_t i = 0; i < product.a.size(); ++i) {
        product.a[i] = values[std::min(first + i, values.size() - 1)];
        most = std::max(most, std::abs(product.a[i]));
      }
      const double factor = most < 1 ? 1024 : 1;  // no denormal sums of bf16, whose fate is not documented
      for (std::size_t k = 0; k < product.depth(); k += kColumns) {
        std::fill(product.b.begin(), product.b.end(), 0.0);
        for (std::size_t column = 0; column < kColumns; ++column) {
          product.b[(k + column) * kColumns + column] = factor;
        }
        expect_exact(product, name_of(form));
      }
    }
  }
}

// Fractions: within what truncating sums of 16 products and c may lose.
TEST_P(Mma, FractionsAreClose) {
  std::mt19937 random(5);
  for (const MmaForm form : kMmaForms) {
    Product product(form);
    const auto draw = [&] { return static_cast<double>(random()) / 2147483648.0 - 1.0; };
    for (double& value : product.a) value = value_of(form, bits_of(form, draw()));
    for (double& value : product.b) value = value_of(form, bits_of(form, draw()));
    for (double& value : product.c) value = static_cast<float>(draw());
    const std::vector<float> d = run(product);
    for (std::size_t at = 0; at < d.size(); ++at) {
      EXPECT_NEAR(d[at], product.expected(at), 17 * 0x1p-22) << name_of(form);
    }
  }
}

TEST_P(Mma, SumsMayBeTheirOwnAddends) {
  Product product({false, 16});
  for (std::size_t i = 0; i < product.a.size(); ++i) product.a[i] = static_cast<double>(i % 7) - 3;
  for (std::size_t i = 0; i < product.b.size(); ++i) product.b[i] = static_cast<double>(i % 5) - 2;
  const DeviceArray<std::uint32_t> g_a = upload(product.a_registers());
  const DeviceArray<std::uint32_t> g_b = upload(product.b_registers());
  const DeviceArray<float> g_d = poisoned<float>(2 * kLanes * 4);
  ASSERT_TRUE(is_ok(run_mma_chain(stream(), 5, g_a.data(), g_b.data(), g_d.data())));
  const std::vector<float> d = g_d.read();
  for (std::size_t at = 0; at < d.size(); ++at) {
    EXPECT_EQ(d[at], 5 * product.expected(at % (kLanes * 4))) << at;
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
