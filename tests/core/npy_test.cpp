#include "rooftile/core/npy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/detail/fault.h"
#include "rooftile/core/philox.h"

namespace rooftile {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A version 1.0 file with this header text, length as it is.
std::string file_of(const std::string& header, const std::string& data = "", char major = 1) {
  std::string file("\x93NUMPY");
  file += major;
  file += '\0';
  const std::size_t length = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(length >> (8 * i) & 0xff);
  return file + header + data;
}
std::string header_of(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
Status parse_status(const std::string& file) { return parse_npy(bytes_of(file), "x.npy").status(); }

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_npy_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static HostTensor counted(DType dtype, const Extents& shape) {
    HostTensor tensor = HostTensor::create(dtype, shape).value();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, static_cast<double>(i % 8));
    return tensor;
  }
  fs::path folder_;
};

TEST_F(Npy, EveryDTypeAndRankRoundTrips) {
  const std::vector<Extents> shapes = {{}, {3}, {0}, {2, 3}, {2, 0, 4}, {1, 1, 1, 1, 1, 1, 1, 5}};
  for (const DType dtype : all_dtypes()) {
    for (const Extents& shape : shapes) {
      const HostTensor tensor = counted(dtype, shape);
      ASSERT_TRUE(write_npy(path("a.npy"), tensor.view()).ok());
      const Result<HostTensor> back = read_npy(path("a.npy"));
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(back->shape(), shape);
      DType stored = dtype;
      if (dtype == DType::bf16) stored = DType::u16;
      if (dtype == DType::f8e4m3 || dtype == DType::f8e5m2) stored = DType::u8;
      EXPECT_EQ(back->dtype(), stored);
      ASSERT_EQ(back->bytes(), tensor.bytes());
      if (tensor.bytes() > 0) {
        EXPECT_EQ(std::memcmp(back->data(), tensor.data(), tensor.bytes()), 0);
      }
    }
  }
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  const HostTensor tensor = counted(DType::f32, {2, 3});
  ASSERT_TRUE(write_npy(path("a.npy"), tensor.view()).ok());
  const std::string file = content("a.npy");
  ASSERT_EQ(file.size(), 128u + 24u);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(file.substr(8, 2), std::string("\x76\x00", 2));
  EXPECT_EQ(file.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_EQ(file[127], '\n');
  ASSERT_TRUE(write_npy(path("b.npy"), counted(DType::u8, {7}).view()).ok());
  EXPECT_EQ(content("b.npy").substr(10, 57), "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }");
}

TEST_F(Npy, ReadsAllVersionsAndOddSpacing) {
  const std::string data(24, '\0');
  for (const char major : {1, 2, 3}) {
    EXPECT_TRUE(parse_status(file_of(header_of("<f4", "False", "(2, 3)"), data, major)).ok()) << int{major};
  }
  EXPECT_TRUE(parse_status(file_of("{\"shape\":(6,),\"descr\":\"<f4\",\"fortran_order\":False}", data)).ok());
  EXPECT_TRUE(parse_status(
                  file_of(" { 'shape' : ( 2 , 3 , ) , 'descr' : '<f4' , 'fortran_order' : False } \n ", data))
                  .ok());
  const Result<HostTensor> scalar =
      parse_npy(bytes_of(file_of(header_of("<f8", "False", "()"), data.substr(0, 8))), "x");
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->shape().rank(), 0);
  EXPECT_EQ(scalar->numel(), 1);
}

TEST_F(Npy, HostileHeadersAreOneClearLine) {
  const std::string data(24, '\0');
  const std::vector<std::pair<std::string, std::string>> hostile = {
      {header_of("<f4", "True", "(2, 3)"), "Fortran order"},
      {header_of(">f4", "False", "(2, 3)"), "big-endian"},
      {header_of("|b1", "False", "(24,)"), "boolean"},
      {header_of("|O", "False", "(2, 3)"), "Python objects"},
      {header_of("|O8", "False", "(2, 3)"), "not supported"},
      {header_of("<c8", "False", "(3,)"), "not supported"},
      {header_of("|f4", "False", "(2, 3)"), "not supported"},
      {header_of("<f16", "False", "(1,)"), "not supported"},
      {header_of("", "False", "(2, 3)"), "damaged"},
      {header_of("\x1b[31m", "False", "(2, 3)"), "?[31m"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "structured"},
      {header_of("<f4", "False", "(-2, 3)"), "negative"},
      {header_of("<f4", "False", "(6)"), "comma"},
      {header_of("<f4", "False", "(2 3)"), "comma"},
      {header_of("<f4", "False", "(,)"), "an extent"},
      {header_of("<f4", "False", "(2,,3)"), "an extent"},
      {header_of("<f4", "False", "(2.0, 3)"), "must be"},
      {header_of("<f4", "False", "6"), "'('"},
      {header_of("<f4", "0", "(2, 3)"), "True or False"},
      {header_of("<f4", "False", "(18446744073709551615,)"), "63 bits"},
      {header_of("<f4", "False", "(9223372036854775808,)"), "63 bits"},
      {header_of("<f4", "False", "(9223372036854775807,)"), "63 bits"},
      {header_of("<f4", "False", "(4611686018427387904, 4)"), "63 bits"},
      {header_of("<f4", "False", "(4294967296, 4294967296, 0)"), "63 bits"},
      {header_of("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 6)"), "more than 8 dimensions"},
      {header_of("<f4", "False", "(2, 3, 1000000000000)"), "truncated"},
      {header_of("<f4", "False", "(2, 2)"), "longer than its header says"},
      {"{'descr': '<f4', 'fortran_order': False}", "no 'shape'"},
      {"{'descr': '<f4', 'shape': (2, 3)}", "no 'fortran_order'"},
      {"{'shape': (2, 3), 'fortran_order': False}", "no 'descr'"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'extra': 1}", "unknown key"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} or 1", "after its closing brace"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}", "'}'"},
      {"{'descr': '<f4", "end of a quoted string"},
      {"", "its end"},
      {"{}", "no 'descr'"},
      {std::string(1000, '('), "'{'"},
      {std::string(200, '\0'), "'{'"},
  };
  for (const auto& [header, expected] : hostile) {
    const Status status = parse_status(file_of(header, data));
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << header;
    EXPECT_TRUE(contains(status.rule(), expected)) << header << "\n" << status.rule();
    EXPECT_TRUE(status.rule().starts_with("x.npy: ")) << status.rule();
    EXPECT_LT(status.rule().size(), 250u);
    for (const char c : status.rule()) EXPECT_TRUE(c >= ' ' && c <= '~') << status.rule();
  }
}

TEST_F(Npy, HostileFramesAreOneClearLine) {
  EXPECT_TRUE(contains(parse_status("").rule(), "not a .npy file"));
  EXPECT_TRUE(contains(parse_status("\x93NUMPZ\x01").rule(), "not a .npy file"));
  EXPECT_TRUE(contains(parse_status("PK\x03\x04 a zip").rule(), "not a .npy file"));
  EXPECT_TRUE(contains(parse_status(file_of("{}", "", 4)).rule(), "version 4.0"));
  std::string minor = file_of("{}");
  minor[7] = 1;
  EXPECT_TRUE(contains(parse_status(minor).rule(), "version 1.1"));
  const std::string huge = std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + std::string(100, ' ');
  EXPECT_TRUE(contains(parse_status(huge).rule(), "limit is 65536"));
  const std::string beyond = std::string("\x93NUMPY\x01\x00\xff\xff", 10) + std::string(100, ' ');
  EXPECT_TRUE(contains(parse_status(beyond).rule(), "truncated"));
}

TEST_F(Npy, EveryTruncationAndEveryExtraByteIsRefused) {
  const HostTensor tensor = counted(DType::i16, {3, 5});
  ASSERT_TRUE(write_npy(path("a.npy"), tensor.view()).ok());
  const std::string whole = content("a.npy");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_FALSE(parse_status(whole.substr(0, length)).ok()) << length;
    write("cut.npy", whole.substr(0, length));
    ASSERT_FALSE(read_npy(path("cut.npy")).ok()) << length;
  }
  EXPECT_FALSE(parse_status(whole + "x").ok());
  EXPECT_TRUE(parse_status(whole).ok());
}

// Byte flips, insertions and cuts of a valid file: whatever is accepted must fit its own bytes.
TEST_F(Npy, MutatedFilesNeverCrash) {
  const std::string valid = file_of(header_of("<i4", "False", "(4, 3)"), std::string(48, 'x'));
  int accepted = 0;
  for (std::uint64_t round = 0; round < 20000; ++round) {
    std::string file = valid;
    const PhiloxCounter random = philox4x32_10(philox_counter(round, 0), philox_key(42));
    const std::array<std::uint32_t, 4> words = {random.x, random.y, random.z, random.w};
    for (std::size_t i = 0; i <= round % words.size(); ++i) {
      const std::size_t place = (words[i] >> 8) % file.size();
      const char byte = static_cast<char>(words[i]);
      switch (words[i] >> 28) {
        case 0:
          file.insert(place, 1, byte);
          break;
        case 1:
          file.erase(place, 1);
          break;
        case 2:
          file[place] = "0123456789(),'"[words[i] % 14];
          break;
        default:
          file[place] = static_cast<char>(file[place] ^ (1 << (words[i] % 8)));
          break;
      }
    }
    // An exact copy on the heap: a read beyond its end is caught by the sanitizer.
    const std::vector<char> exact(file.begin(), file.end());
    const Result<HostTensor> tensor = parse_npy(std::as_bytes(std::span(exact)), "x.npy");
    if (!tensor.ok()) {
      ASSERT_FALSE(tensor.status().rule().empty());
      continue;
    }
    ++accepted;
    ASSERT_LT(tensor->bytes(), file.size());
    if (tensor->numel() > 0) (void)tensor->at(tensor->numel() - 1);
  }
  // Flips of the data leave a valid file: a reader that refuses everything would pass otherwise.
  EXPECT_GT(accepted, 1000);
}

TEST_F(Npy, FilesThatAreNoFiles) {
  EXPECT_EQ(read_npy(path("missing.npy")).status().code(), StatusCode::io_error);
  EXPECT_TRUE(
      contains(read_npy(path("missing.npy")).status().rule(), "missing.npy: cannot be opened: No such file"));
  EXPECT_TRUE(contains(read_npy(folder_.string()).status().rule(), "not a regular file"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(read_npy(path("pipe")).status().rule(), "not a regular file"));
  EXPECT_TRUE(contains(read_npy("/dev/zero").status().rule(), "not a regular file"));
  write("empty.npy", "");
  EXPECT_TRUE(contains(read_npy(path("empty.npy")).status().rule(), "not a .npy file"));
}

TEST_F(Npy, AFailedWriteLeavesWhatWasThere) {
  const HostTensor tensor = counted(DType::f32, {8});
  EXPECT_EQ(write_npy(path("no/such/folder/a.npy"), tensor.view()).code(), StatusCode::io_error);
  EXPECT_TRUE(contains(write_npy("/dev/null", tensor.view()).rule(), "not a regular file"));
  EXPECT_FALSE(write_npy(folder_.string(), tensor.view()).ok());

  TensorView gaps = contiguous_view<void>(const_cast<void*>(tensor.data()), DType::f32, kCpu, {4});
  gaps.strides = Extents{2};
  EXPECT_TRUE(contains(write_npy(path("a.npy"), gaps).rule(), "gaps"));
  ConstTensorView elsewhere = tensor.view();
  elsewhere.device = cuda_device(0);
  EXPECT_TRUE(contains(write_npy(path("a.npy"), elsewhere).rule(), "copy it to the host"));
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(Npy, AFullDiskLeavesTheOldFileAndNoTemporaryOne) {
  write("a.npy", "old");
  const HostTensor large = counted(DType::f64, {8192});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_npy(path("a.npy"), large.view());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_TRUE(contains(status.rule(), "cannot be written"));
  EXPECT_EQ(content("a.npy"), "old");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Npy, OverwritesAnExistingFile) {
  ASSERT_TRUE(write_npy(path("a.npy"), counted(DType::f32, {100}).view()).ok());
  ASSERT_TRUE(write_npy(path("a.npy"), counted(DType::f32, {2}).view()).ok());
  EXPECT_EQ(read_npy(path("a.npy"))->numel(), 2);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Npy, AFailedAllocationIsAStatus) {
  ASSERT_TRUE(write_npy(path("a.npy"), counted(DType::f32, {100}).view()).ok());
  detail::fail_allocation_after(0);
  const Result<HostTensor> failed = read_npy(path("a.npy"));
  EXPECT_EQ(failed.status().code(), StatusCode::out_of_memory);
  EXPECT_TRUE(read_npy(path("a.npy")).ok());
}

}  // namespace
}  // namespace rooftile
