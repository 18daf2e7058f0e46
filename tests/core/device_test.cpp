#include "rooftile/core/device.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace rooftile {
namespace {

TEST(Device, NamesParseAsTheyPrint) {
  for (const Device device : {kCpu, kSim, cuda_device(0), cuda_device(7)}) {
    const Result<Device> parsed = parse_device(to_string(device));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, device);
  }
  EXPECT_EQ(*parse_device("cuda"), cuda_device(0));
  for (const char* text :
       {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "cpu:0", "sim:1"}) {
    const Status status = parse_device(text).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << text;
    EXPECT_NE(status.rule().find("use cuda, cuda:N, cpu or sim"), std::string::npos) << text;
  }
}

TEST(Device, CpuProperties) {
  const Result<const DeviceProperties*> cpu = device_properties(kCpu);
  ASSERT_TRUE(cpu.ok());
  EXPECT_EQ((*cpu)->device, kCpu);
  EXPECT_FALSE((*cpu)->name.empty());
  EXPECT_EQ((*cpu)->compute_capability, 0);
  EXPECT_GE((*cpu)->multiprocessors, 1);
  EXPECT_GT((*cpu)->memory_bytes, std::size_t{1} << 20);
}

TEST(Device, SimPropertiesAreThoseOfAnSm90) {
  const Result<const DeviceProperties*> sim = device_properties(kSim);
  ASSERT_TRUE(sim.ok());
  EXPECT_EQ((*sim)->name, "simulated SM (sm_90)");
  EXPECT_EQ((*sim)->compute_capability, 90);
  EXPECT_EQ((*sim)->multiprocessors, 4);
  EXPECT_EQ((*sim)->max_threads_per_block, 1024);
  EXPECT_EQ((*sim)->max_threads_per_multiprocessor, 2048);
  EXPECT_EQ((*sim)->shared_memory_per_block, 227u * 1024);
  EXPECT_EQ((*sim)->last_level_cache, 1u << 20);
}

TEST(Device, PropertiesAreCachedForAllThreads) {
  const DeviceProperties* const first = *device_properties(kSim);
  std::vector<std::thread> threads;
  std::vector<const DeviceProperties*> seen(8);
  for (auto& slot : seen) threads.emplace_back([&slot] { slot = *device_properties(kSim); });
  for (std::thread& thread : threads) thread.join();
  for (const DeviceProperties* properties : seen) EXPECT_EQ(properties, first);
}

TEST(Device, DevicesThatCannotBeAreRefused) {
  EXPECT_EQ(device_properties({DeviceKind::cpu, 1}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(device_properties(cuda_device(-1)).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(device_properties({static_cast<DeviceKind>(9), 0}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(device_properties(cuda_device(cuda_device_count())).status().code(), StatusCode::unavailable);
}

TEST(Device, WithoutAGpuTheReasonIsOneLineAndTheDefaultIsTheCpu) {
  const Status availability = cuda_availability();
  if (availability.ok()) {
    EXPECT_GT(cuda_device_count(), 0);
    EXPECT_EQ(default_device(), cuda_device(0));
    return;
  }
  EXPECT_EQ(default_device(), kCpu);
  EXPECT_EQ(availability.code(), StatusCode::unavailable);
  EXPECT_GT(availability.rule().size(), 20u);
  EXPECT_EQ(availability.rule().find('\n'), std::string::npos);
  EXPECT_NE(availability.rule().find(": "), std::string::npos) << "what is wrong, then how to mend it";
  if (cuda_device_count() == 0) {
    EXPECT_EQ(device_properties(cuda_device(0)).status().rule(), availability.rule());
  }
}

}  // namespace
}  // namespace rooftile
