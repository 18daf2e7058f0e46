#include "rooftile/core/row_cut.h"

#include <gtest/gtest.h>

namespace rooftile {
namespace {

TEST(PassingWindow, IsOfTensorsThatL2HasNoRoomForAlone) {
  EXPECT_EQ(passing_window(0, 4), 0);
  EXPECT_EQ(passing_window(16384, 4095), 0);
  EXPECT_EQ(passing_window(16384, 4096), 2048);
  EXPECT_EQ(passing_window(std::int64_t{1} << 24, 4), std::int64_t{1} << 21);
  EXPECT_EQ(passing_window(8192, 10000), 839);  // whole rows: 8 MiB, and what is missing of the last one
  EXPECT_EQ(passing_window(1, std::int64_t{1} << 40), 1);
}

}  // namespace
}  // namespace rooftile
