#include "rooftile/lab/base/write_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_write_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(WriteFile, ReplacesAndLeavesNothingElse) {
  const fs::path path = folder_ / "a.json";
  ASSERT_TRUE(write_file(path.string(), "one").ok());
  ASSERT_TRUE(write_file(path.string(), "two").ok());
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(WriteFile, FailuresSayWhyAndLeaveNothing) {
  const Status missing = write_file((folder_ / "no" / "a.json").string(), "x");
  EXPECT_EQ(missing.code(), StatusCode::io_error);
  EXPECT_NE(missing.message().find("No such file"), std::string::npos) << missing.message();
  EXPECT_FALSE(write_file(folder_.string(), "x").ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(WriteFile, DevicesAreWrittenInPlace) {
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  EXPECT_FALSE(write_file("/dev/full", "x").ok());
}

}  // namespace
}  // namespace rooftile::lab
