// Ceilings: what the cache accepts, and the mixes of the streaming bound.
#include "rooftile/lab/time/ceilings.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "rooftile/lab/time/compute_bound.h"
#include "rooftile/lab/time/stream_bound.h"

namespace rooftile::lab {
namespace {

std::vector<Ceiling> two() {
  return {{"read", "GB/s", 4321.5, 1e9, 4800.0, ""}, {"tensor_core", "TFLOP/s", 0, 0, 0, "not measured yet"}};
}

TEST(CeilingCache, ReadsWhatItWrote) {
  const std::string text = ceilings_text("GPU \"X\"", "580.1", two());
  const Result<std::vector<Ceiling>> read = parse_ceilings(text, "GPU \"X\"", "580.1");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->front().name, "read");
  EXPECT_EQ(read->front().value, 4321.5);
  EXPECT_EQ(read->front().datasheet, 4800.0);
  EXPECT_EQ(read->back().reason, "not measured yet");
}

TEST(CeilingCache, RefusesWhatIsNotItsOwn) {
  const std::string text = ceilings_text("X", "580.1", two());
  EXPECT_FALSE(parse_ceilings(text, "Y", "580.1").ok());
  EXPECT_FALSE(parse_ceilings(text, "X", "580.2").ok());
  EXPECT_FALSE(parse_ceilings(text.substr(0, text.size() / 2), "X", "580.1").ok());
  const auto changed = [&text](const std::string& from, const std::string& to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return other.replace(at, from.size(), to);
  };
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"version\": 3", "\"version\": 2"},
                                                        {"4321.5", "-1.0"},
                                                        {"4321.5", "null"},
                                                        {"4321.5", "0"},  // not measured, and no reason
                                                        {"\"GB/s\"", "7"},
                                                        {"\"ceilings\"", "\"ceiling\""}}) {
    EXPECT_FALSE(parse_ceilings(changed(from, to), "X", "580.1").ok()) << from << " -> " << to;
  }
  EXPECT_FALSE(parse_ceilings(ceilings_text("X", "580.1", {}), "X", "580.1").ok());
  for (const char* nothing : {"", "null", "[]", "{}"}) EXPECT_FALSE(parse_ceilings(nothing, "X", "1").ok());
}

TEST(CeilingCache, NamesItsFileByDeviceAndDriver) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/somewhere", 1), 0);
  EXPECT_EQ(ceilings_path("NVIDIA H200", "580.95.05 (CUDA 13.0)"),
            "/somewhere/rooftile/ceilings-nvidia-h200-580.95.05-cuda-13.0.json");
  EXPECT_EQ(ceilings_path("../../x", ""), "/somewhere/rooftile/ceilings-x-unknown.json");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "relative", 1), 0);
  ASSERT_EQ(setenv("HOME", "/home/user", 1), 0);
  EXPECT_EQ(ceilings_path("a", "b"), "/home/user/.cache/rooftile/ceilings-a-b.json");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(ceilings_path("a", "b"), "");
}

TEST(Ceilings, DatasheetCountsCores) {
  EXPECT_NEAR(datasheet_fma_tflops(90, 132, 1980, Arithmetic::fma_f32), 66.9, 0.1);  // H200 SXM
  EXPECT_NEAR(datasheet_fma_tflops(90, 132, 1980, Arithmetic::fma_f64), 33.5, 0.1);
  EXPECT_NEAR(datasheet_fma_tflops(80, 108, 1410, Arithmetic::fma_f32), 19.5, 0.1);  // A100
  EXPECT_EQ(datasheet_fma_tflops(37, 13, 875, Arithmetic::fma_f32), 0.0);
  EXPECT_NEAR(datasheet_tensor_tflops(90, 132, Arithmetic::wgmma_bf16), 989.4, 0.1);
  EXPECT_NEAR(datasheet_tensor_tflops(90, 132, Arithmetic::wgmma_f8e4m3), 1978.8, 0.1);
  EXPECT_NEAR(datasheet_tensor_tflops(80, 108, Arithmetic::wgmma_tf32), 156.0, 0.1);
  EXPECT_EQ(datasheet_tensor_tflops(80, 108, Arithmetic::wgmma_f8e4m3), 0.0);
  EXPECT_EQ(datasheet_tensor_tflops(75, 40, Arithmetic::wgmma_bf16), 0.0);
}

TEST(ComputeBound, IsMeasuredOnGpusAlone) {
  const DeviceProperties host = *device_properties(kCpu).value();
  const Status status = ComputeBound::create({kCpu, nullptr}, host, FlopUnit::fma_f32, 1e9).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.message().find("on GPUs"), std::string::npos) << status.message();
}

TEST(ComputeBound, OlderGpusHaveOlderInstructions) {
  DeviceProperties a100 = *device_properties(kCpu).value();
  a100.device = cuda_device(0);
  a100.compute_capability = 80;
  EXPECT_EQ(fastest_arithmetic(FlopUnit::tensor_bf16, a100).value(), Arithmetic::mma_sync_bf16);
  EXPECT_EQ(fastest_arithmetic(FlopUnit::tensor_tf32, a100).status().code(), StatusCode::unsupported);
  EXPECT_EQ(fastest_arithmetic(FlopUnit::none, a100).status().code(), StatusCode::unsupported);
  a100.compute_capability = 90;
  EXPECT_EQ(fastest_arithmetic(FlopUnit::tensor_bf16, a100).value(), Arithmetic::wgmma_bf16);
}

TEST(Ceilings, TheSimulatorHasNoTime) { EXPECT_FALSE(measure_ceilings(kSim).ok()); }

// Every mix moves the bytes that it was asked for, rounded up to 16 a side; a negligible side is left out.
TEST(StreamBound, AnyMixAndSize) {
  struct Mix {
    double read;
    double write;
    double bytes;
  };
  for (const Mix& mix : std::array<Mix, 11>{{{3000, 3000, 2 * 3008},
                                             {6000, 3000, 6000 + 3008},
                                             {1000, 4000, 1008 + 4000},
                                             {0, 4096, 4096},
                                             {4096, 0, 4096},
                                             {1, 0, 16},
                                             {1, 1, 32},
                                             {1 << 20, 4, 1 << 20},
                                             {4, 1 << 20, 1 << 20},
                                             {1 << 20, 8192, (1 << 20) + 8192},
                                             {48e6, 96e6, 144e6}}}) {
    const StreamRef stream{kCpu, nullptr};
    const Result<StreamBound> bound = StreamBound::create(stream, mix.read, mix.write);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    EXPECT_EQ(bound->bytes(), mix.bytes) << mix.read << ":" << mix.write;
    ASSERT_FALSE(bound->accesses().empty());
    for (const StreamAccess access : bound->accesses()) EXPECT_TRUE(bound->launch(stream, access).ok());
  }
  EXPECT_FALSE(StreamBound::create({kCpu, nullptr}, 0, 0).ok());
}

}  // namespace
}  // namespace rooftile::lab
