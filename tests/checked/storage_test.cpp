// What the checked build sees of vectors, of memcpy and memset, and of textures.
#include <cstring>
#include <numeric>

#include "rooftile/sim/checked/source_lines.h"
#include "rooftile/sim/texture.h"
#include "tests/checked/checked_test.h"
#include "tests/checked/storage_kernels.h"
#include "tests/sim/arithmetic.h"
#include "tests/sim/textures.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;
using namespace checked::sim_tests;
using simt::checked::FindingKind;

constexpr SessionOptions kMetrics{.metrics = true};

class Storage : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void SetUp() override { ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 7}))); }
};

TEST_P(Storage, VectorsInUnionsAreOneAccess) {
  alignas(16) const float in[] = {10, 11, 12, 13};
  checked::sim_tests::Vectors n{};
  const Report report = watch(kMetrics, {{"in", in, sizeof in, true}, {"out", &n, sizeof n, false}},
                              [&] { return run_vectors(kStream, in, &n); });
  EXPECT_EQ(describe(report), "");
  EXPECT_EQ(n.from_union[0], 13);
  EXPECT_EQ(n.to_union[3], 26);
  EXPECT_EQ(n.braces_one[0], 1);
  EXPECT_EQ(n.braces_one[3], 0);
  EXPECT_EQ(n.braces_three[2], 13);
  EXPECT_EQ(n.braces_three[3], 0);
  for (const auto& line : report.accesses) {
    const std::string text = simt::checked::source_text(line.at);
    if (text == "u.v = g_vectors[0];") {
      EXPECT_EQ(line.counts.requests, 1u);
      EXPECT_EQ(line.counts.lane_bytes, 16u);
      return;
    }
  }
  FAIL() << "the union's load is not in the table";
}

// Offsets and sizes on both sides of every boundary: each byte is copied, none beside.
TEST_P(Storage, CopiesAndFillsEveryByteAndNoOther) {
  constexpr unsigned kFrom = 128;
  for (const unsigned n : {0u, 1u, 2u, 3u, 4u, 8u, 12u, 15u, 16u, 17u, 31u, 33u, 64u}) {
    for (const unsigned to : {0u, 1u, 2u, 4u, 8u, 9u, 16u}) {
      for (const unsigned from : {kFrom, kFrom + 1, kFrom + 4, kFrom + 8}) {
        for (const Bytes kind : {Bytes::copy, Bytes::fill}) {
          DeviceVector<unsigned char> bytes(256);
          std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(3));
          DeviceVector<unsigned char> expected = bytes;
          if (kind == Bytes::copy) {
            std::memcpy(&expected[to], &expected[from], n);
          } else {
            std::memset(&expected[to], static_cast<int>(from), n);
          }
          ASSERT_TRUE(is_ok(run_bytes(kStream, kind, to, from, n, bytes.data())));
          ASSERT_EQ(bytes, expected) << n << " bytes from " << from << " to " << to;
        }
      }
    }
  }
}

// One request of each width for what is left.
TEST_P(Storage, CopiesAreAsWideAsTheAlignmentAllows) {
  struct Expected {
    Bytes kind;
    unsigned to, from, n;
    unsigned loads, stores, widest;
  };
  for (const Expected& e :
       {Expected{Bytes::copy, 0, 128, 4, 1, 1, 4}, Expected{Bytes::copy, 0, 128, 16, 1, 1, 16},
        Expected{Bytes::copy, 4, 128, 16, 1, 1, 16}, Expected{Bytes::copy, 0, 128, 64, 4, 4, 16},
        Expected{Bytes::copy, 0, 128, 31, 6, 6, 16}, Expected{Bytes::copy, 8, 136, 24, 3, 3, 8},
        Expected{Bytes::copy, 1, 128, 5, 5, 5, 1}, Expected{Bytes::fill, 0, 128, 28, 0, 3, 16},
        Expected{Bytes::fill, 2, 128, 3, 0, 3, 1}}) {
    DeviceVector<unsigned char> bytes(256);
    const Report report = watch(kMetrics, {input("bytes", bytes)},
                                [&] { return run_bytes(kStream, e.kind, e.to, e.from, e.n, bytes.data()); });
    EXPECT_EQ(report.total(MemorySpace::global, AccessKind::load).requests, e.loads) << e.n;
    EXPECT_EQ(report.total(MemorySpace::global, AccessKind::store).requests, e.stores)
        << e.n << " to " << e.to;
    unsigned widest = 0;
    for (const auto& line : report.accesses) widest = std::max(widest, line.counts.lane_bytes);
    EXPECT_EQ(widest, e.widest) << e.n;
  }
}

struct MemoryCase {
  MemoryUse use;
  const char* name;
  FindingKind kind;
  const char* what;
};

TEST_P(Storage, MistakesOfBytesAreFoundAtTheirLine) {
  const auto run = [](MemoryUse use) {
    std::vector<int> in(192, 1);
    std::vector<int> out(192);
    return watch({}, {{"in", &in[64], 256, true, true}, {"out", &out[64], 256, false}},
                 [&] { return run_memory_use(kStream, use, &in[64], &out[64]); });
  };
  for (const MemoryUse right : {MemoryUse::fill_then_read, MemoryUse::copy_then_read}) {
    EXPECT_EQ(describe(run(right)), "");
  }
  for (const MemoryCase& c :
       {MemoryCase{MemoryUse::copy_races, "copy_races", FindingKind::race, "of shared s_bytes"},
        MemoryCase{MemoryUse::fill_races, "fill_races", FindingKind::race, "of shared s_bytes"},
        MemoryCase{MemoryUse::copy_uninitialised, "copy_uninitialised", FindingKind::uninitialised,
                   "of shared s_bytes"},
        MemoryCase{MemoryUse::copy_behind, "copy_behind", FindingKind::out_of_bounds,
                   "reads byte 256 of in, which has 256 bytes"}}) {
    const Report report = run(c.use);
    bool found = false;
    for (const auto& finding : report.findings) {
      const std::string text =
          simt::checked::source_text(finding.at) + simt::checked::source_text(finding.other);
      found = found || (finding.kind == c.kind && finding.what.find(c.what) != std::string::npos &&
                        text.find(std::string("// BUG ") + c.name) != std::string::npos);
    }
    EXPECT_TRUE(found) << c.name << "\n" << describe(report);
  }
}

// A warp reads a row of floats: one request of four sectors; filtered, four of them. At the author's line.
TEST_P(Storage, TexturesCountAsLoadsOfTheirTexels) {
  DeviceVector<float> image(256);
  std::iota(image.begin(), image.end(), 0.0f);
  std::vector<float> at(64);
  for (unsigned i = 0; i < 32; ++i) {
    at[std::size_t{2} * i] = static_cast<float>(i) + 0.5f;
    at[2 * i + 1] = 2.5f;
  }
  std::vector<float> out(128);
  for (const auto filter : {simt::FilterMode::point, simt::FilterMode::linear}) {
    auto texture =
        simt::make_texture_2d(image.data(), 32, 8, 128, simt::texel_format<float>(), {.filter = filter});
    ASSERT_TRUE(is_ok(texture.status()));
    const Report report = watch(kMetrics, {input("image", image), input("at", at), output("out", out)}, [&] {
      return run_fetch(kStream, Fetch::tex2D, ReadAs::float1, texture->handle(), 32, at.data(), out.data());
    });
    EXPECT_EQ(describe(report), "");
    EXPECT_EQ(out[124], 2 * 32 + 31);
    AccessCounts counts;
    for (const auto& line : report.accesses) {
      if (simt::checked::source_text(line.at).ends_with("// the fetch") && line.kind == AccessKind::load) {
        counts = line.counts;
      }
    }
    EXPECT_EQ(counts.requests, filter == simt::FilterMode::point ? 1u : 4u);
    EXPECT_EQ(counts.lane_bytes, 4u);
    EXPECT_EQ(counts.lanes, 32 * counts.requests);
    if (filter == simt::FilterMode::point) {
      EXPECT_DOUBLE_EQ(counts.sectors_per_request(), 4);
    }
  }
}

TEST_P(Storage, TexelsOutsideOfTheBufferAreFound) {
  std::vector<float> image(256);
  const std::vector<float> at{0.5f, 7.5f};
  std::vector<float> out(4);
  auto texture = simt::make_texture_2d(image.data(), 32, 8, 128, simt::texel_format<float>());
  ASSERT_TRUE(is_ok(texture.status()));
  const Report report =
      watch({}, {{"image", image.data(), 896, true, true}, input("at", at), output("out", out)}, [&] {
        return run_fetch(kStream, Fetch::tex2D, ReadAs::float1, texture->handle(), 1, at.data(), out.data());
      });
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::out_of_bounds) << describe(report);
  EXPECT_TRUE(simt::checked::source_text(report.findings[0].at).ends_with("// the fetch"));
}

INSTANTIATE_TEST_SUITE_P(Orders, Storage, simt::every_lane_order(), simt::lane_order_name);

}  // namespace
}  // namespace rooftile::checked_testing
