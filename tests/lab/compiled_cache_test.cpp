// A compiled source is taken from the cache as long as nothing that it was made from has changed.
#include "rooftile/lab/inspect/compiled_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

class CompiledCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_cache_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    cache_ = CompiledCache(folder_, "x");
    write("kernel.cu", "__global__ void k() {}");
    write("a header.h", "// one");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // As a compiler that has read both files leaves it.
  Status keep(const std::string& recipe) const {
    write("new.cubin", "code");
    std::string blank = path("a header.h");
    blank.insert(blank.find(' '), "\\");
    write("new.d", path("new.cubin") + " : " + path("kernel.cu") + " \\\n    " + blank + "\n");
    return cache_.keep(recipe, path("new.cubin"), path("new.d"), "what the compiler said");
  }

  fs::path folder_;
  CompiledCache cache_{folder_, "x"};
};

TEST_F(CompiledCacheTest, GivesBackWhatItWasGiven) {
  EXPECT_EQ(cache_.find("nvcc 1 -O2"), std::nullopt);
  ASSERT_TRUE(keep("nvcc 1 -O2").ok());
  EXPECT_EQ(cache_.find("nvcc 1 -O2"), "what the compiler said");
  EXPECT_TRUE(fs::exists(cache_.cubin()));
  EXPECT_FALSE(fs::exists(path("new.cubin")));
}

TEST_F(CompiledCacheTest, ForgetsWhatHasChanged) {
  ASSERT_TRUE(keep("nvcc 1 -O2").ok());
  EXPECT_EQ(cache_.find("nvcc 2 -O2"), std::nullopt);
  for (const char* file : {"kernel.cu", "a header.h", "x.cubin"}) {
    ASSERT_TRUE(keep("nvcc 1 -O2").ok());
    ASSERT_NE(cache_.find("nvcc 1 -O2"), std::nullopt) << file;
    write(file, "// another");
    EXPECT_EQ(cache_.find("nvcc 1 -O2"), std::nullopt) << file;
  }
  ASSERT_TRUE(keep("nvcc 1 -O2").ok());
  fs::remove(path("a header.h"));
  EXPECT_EQ(cache_.find("nvcc 1 -O2"), std::nullopt);
}

TEST_F(CompiledCacheTest, TakesNoDamagedEntry) {
  for (const char* text :
       {"", "{", "{}", "[]", "{\"version\":1}", "{\"version\":1,\"recipe\":\"nvcc 1 -O2\"}",
        "{\"version\":1,\"recipe\":\"nvcc 1 -O2\",\"files\":3,\"cubin\":\"\",\"report\":\"\"}"}) {
    ASSERT_TRUE(keep("nvcc 1 -O2").ok());
    write("x.json", text);
    EXPECT_EQ(cache_.find("nvcc 1 -O2"), std::nullopt) << text;
  }
}

TEST_F(CompiledCacheTest, SaysWhatACompilerLeftOut) {
  EXPECT_FALSE(cache_.keep("r", path("none.cubin"), path("none.d"), "").ok());
  EXPECT_EQ(cache_.find("r"), std::nullopt);
}

}  // namespace
}  // namespace rooftile::lab
