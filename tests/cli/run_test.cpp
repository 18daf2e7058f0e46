// `rooftile run` of operators with optional tensors and with tensors that are read and written, by name and by order.
#include <sys/stat.h>

#include <cmath>
#include <numeric>

#include "rooftile/core/npy.h"
#include "tests/cli/cli_testing.h"

namespace rooftile {
namespace {

using cli_testing::CliTest;
using cli_testing::Outcome;

class CliRun : public CliTest {
 protected:
  std::string write(const std::string& name, const Extents& shape, const std::vector<double>& values,
                    DType dtype = DType::f32) const {
    Result<HostTensor> tensor = HostTensor::create(dtype, shape);
    EXPECT_TRUE(tensor.ok());
    for (std::size_t i = 0; i < values.size(); ++i) tensor->set(static_cast<std::int64_t>(i), values[i]);
    EXPECT_TRUE(write_npy(path(name), tensor->view()).ok());
    return path(name);
  }
  // What a file holds; nothing where it is not there.
  std::vector<double> read(const std::string& name) const {
    const Result<HostTensor> tensor = read_npy(path(name));
    if (!tensor.ok()) return {};
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensor->numel(); ++i) values.push_back(tensor->at(i));
    return values;
  }
  void expect_near(const std::string& name, const std::vector<double>& wanted) const {
    const std::vector<double> values = read(name);
    ASSERT_EQ(values.size(), wanted.size()) << name;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(values[i], wanted[i], 1e-6 * (1 + std::fabs(wanted[i]))) << name << " " << i;
  }
  // With the rest of a command line, on the CPU and on the simulated SM.
  void expect_done(std::vector<std::string> args, const std::string& name,
                   const std::vector<double>& wanted) const {
    args.insert(args.begin(), "run");
    for (const char* device : {"cpu", "sim"}) {
      std::vector<std::string> call = args;
      call.insert(call.end(), {"--device", device});
      const Outcome outcome = run(call);
      ASSERT_EQ(outcome.code, 0) << device << ": " << outcome.err;
      expect_near(name, wanted);
    }
  }
};

// Two rows of three.
const Extents kShape{2, 3};
const std::vector<double> kX = {1.0, 2.0, 4.0, -3.0, 0.5, 0.25};

std::vector<double> normalised(const std::vector<double>& x, const std::vector<double>& weight,
                               const std::vector<double>& bias) {
  std::vector<double> y;
  for (std::size_t row = 0; row < x.size(); row += 3) {
    const double mean = (x[row] + x[row + 1] + x[row + 2]) / 3;
    double variance = 0;
    for (std::size_t j = 0; j < 3; ++j) variance += std::pow(x[row + j] - mean, 2) / 3;
    for (std::size_t j = 0; j < 3; ++j)
      y.push_back((x[row + j] - mean) / std::sqrt(variance + 1e-5) * weight[j] + bias[j]);
  }
  return y;
}

TEST_F(CliRun, SoftmaxOfTheUsersRows) {
  std::vector<double> y;
  for (std::size_t i = 0; i < kX.size(); ++i) {
    const std::size_t row = i / 3 * 3;
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += std::exp(kX[row + j]);
    y.push_back(std::exp(kX[i]) / sum);
  }
  expect_done({"softmax", "--in", write("x.npy", kShape, kX), "--out", path("y.npy")}, "y.npy", y);
}

TEST_F(CliRun, OptionalTensorsComeByNameOrByOrder) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string w = write("w.npy", Extents{3}, {2, -1, 0.5});
  const std::string b = write("b.npy", Extents{3}, {10, 20, 30});
  const std::string y = path("y.npy");
  expect_done({"layer_norm", "--in", x, "--out", y}, "y.npy", normalised(kX, {1, 1, 1}, {0, 0, 0}));
  expect_done({"layer_norm", "--in", x, w, "--out", y}, "y.npy", normalised(kX, {2, -1, 0.5}, {0, 0, 0}));
  expect_done({"layer_norm", "--in", "bias=" + b, x, "--out", y}, "y.npy",
              normalised(kX, {1, 1, 1}, {10, 20, 30}));
  expect_done({"layer_norm", "--in", x, w, b, "--out", "y=" + y}, "y.npy",
              normalised(kX, {2, -1, 0.5}, {10, 20, 30}));
}

TEST_F(CliRun, WhatIsReadAndWrittenComesByName) {
  const std::vector<double> residual = {0.5, -1, 2, 3, 4, 5};
  std::vector<double> sum = kX;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += residual[i];
  const std::string x = write("x.npy", kShape, kX);
  const std::string r = write("r.npy", kShape, residual);
  const std::vector<std::string> call = {
      "layer_norm", "--in", x, "residual=" + r, "--out", path("y.npy"), "residual=" + path("sum.npy")};
  expect_done(call, "sum.npy", sum);
  expect_done(call, "y.npy", normalised(sum, {1, 1, 1}, {0, 0, 0}));
  expect_near("r.npy", residual);
  // The sum may be left where it is.
  expect_done({"layer_norm", "--in", x, "residual=" + r, "--out", path("y.npy")}, "y.npy",
              normalised(sum, {1, 1, 1}, {0, 0, 0}));
}

TEST_F(CliRun, OptionalResultsMayBeLeftOut) {
  const Extents shape{1, 2, 1, 4};  // [batch, sequence, heads, dimension]
  std::vector<double> q(8);
  std::iota(q.begin(), q.end(), 1.0);
  std::vector<double> turned = q;
  for (std::size_t pair = 0; pair < 2; ++pair) {
    const double angle = std::pow(10000.0, -static_cast<double>(pair) / 2);  // of position 1
    const double a = q[4 + 2 * pair];
    const double b = q[5 + 2 * pair];
    turned[4 + 2 * pair] = a * std::cos(angle) - b * std::sin(angle);
    turned[5 + 2 * pair] = a * std::sin(angle) + b * std::cos(angle);
  }
  const std::string in = write("q.npy", shape, q);
  expect_done({"rope", "--arg", "form=interleaved", "--in", in, "--out", path("t.npy")}, "t.npy", turned);
  expect_done(
      {"rope", "--arg", "form=interleaved", "--in", in, "k=" + in, "--out", path("t.npy"), path("k.npy")},
      "k.npy", turned);
  const std::string x = write("x.npy", kShape, kX);
  expect_done({"layer_norm_backward", "--in", "x=" + x, "dy=" + x, "--out", "dbias=" + path("db.npy"),
               path("dx.npy")},
              "db.npy", {kX[0] + kX[3], kX[1] + kX[4], kX[2] + kX[5]});
  EXPECT_EQ(read("dx.npy").size(), kX.size());
  const Outcome alone =
      run({"run", "layer_norm_backward", "--in", "x=" + x, "dy=" + x, "--out", path("dx.npy")});
  EXPECT_EQ(alone.code, 0) << alone.err;
}

TEST_F(CliRun, DropoutsCounterIsRaised) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string counter = write("c.npy", Extents{1}, {41}, DType::i64);
  expect_done({"dropout", "--arg", "p=0", "--in", x, "--out", path("y.npy")}, "y.npy", kX);
  expect_done(
      {"dropout", "--in", x, "counter=" + counter, "--out", path("y.npy"), "counter=" + path("n.npy")},
      "n.npy", {42});
}

// Of a call with two outputs, of which one cannot be written, the other's file is as it was.
TEST_F(CliRun, WhatFailsLeavesEveryFileAsItWas) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string r = write("r.npy", kShape, kX);
  expect_error(2, "its folder: No such file",
               {"run", "layer_norm", "--in", x, "residual=" + r, "--out", path("no/y.npy"), "residual=" + r});
  expect_near("r.npy", kX);
  cli_testing::fs::create_directory(path("folder.npy"));
  expect_error(
      2, "is a folder",
      {"run", "layer_norm", "--in", x, "residual=" + r, "--out", path("folder.npy"), "residual=" + r});
  expect_near("r.npy", kX);
  // What is no file stays what it is.
  ASSERT_EQ(mkfifo(path("pipe.npy").c_str(), 0600), 0);
  expect_error(2, "not a regular file",
               {"run", "layer_norm", "--in", x, "residual=" + r, "--out", path("pipe.npy"), "residual=" + r});
  EXPECT_TRUE(cli_testing::fs::is_fifo(path("pipe.npy")));
  expect_near("r.npy", kX);
  for (const auto& file : cli_testing::fs::directory_iterator(folder_))
    EXPECT_EQ(file.path().string().find(".new"), std::string::npos) << file;
}

TEST_F(CliRun, OutputsHaveFilesOfTheirOwn) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string r = write("r.npy", kShape, kX);
  const std::string y = path("y.npy");
  const auto refused = [&](const std::string& residual) {
    expect_error(2, "is the file of two outputs: give",
                 {"run", "layer_norm", "--in", x, "residual=" + r, "--out", y, "residual=" + residual});
  };
  refused(y);
  refused(path("./y.npy"));
  cli_testing::fs::create_symlink("y.npy", path("link.npy"));
  refused(path("link.npy"));
  EXPECT_FALSE(cli_testing::fs::exists(y));
}

TEST_F(CliRun, LinksAreFollowedAndModesKept) {
  namespace fs = cli_testing::fs;
  const std::string x = write("x.npy", kShape, kX);
  const std::string y = write("y.npy", kShape, kX);
  fs::permissions(y, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("y.npy", path("link.npy"));
  expect_done({"layer_norm", "--in", x, "--out", path("link.npy")}, "y.npy",
              normalised(kX, {1, 1, 1}, {0, 0, 0}));
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(fs::status(y).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CliRun, WordsThatMeanNothingAreRefused) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string y = path("y.npy");
  const auto refused = [&](const std::string& why, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "softmax", "--in", x});
    expect_error(2, why, more);
  };
  refused("softmax has no maks: did you mean mask=?; a file of that name is ./maks=m.npy",
          {"maks=m.npy", "--out", y});
  refused("softmax has no z: ", {"--out", "z=y.npy"});
  refused("mask= names no file", {"mask=", "--out", y});
  refused("it is empty", {"--out", y, "--rung", ""});
  refused("run takes one rung", {"--out", y, "--rung", "serial,threaded"});
  refused("serial is a CPU rung: name --device cpu", {"--out", y, "--rung", "serial", "--device", "sim"});
  refused("temperature is given twice", {"--out", y, "--arg", "temperature=1", "--arg", "temperature=2"});
  refused("'pad' shapes the cases that the lab generates", {"--out", y, "--arg", "pad=3"});
  refused("no input is one", {"--out", y, "--dtype", "bf16"});
  const std::string bits = write("bits.npy", kShape, kX, DType::u16);
  expect_error(2, "add --dtype bf16 if they are", {"run", "softmax", "--in", bits, "--out", y});
  expect_error(2, "this call gives no k_out: leave",
               {"run", "rope", "--in", write("q.npy", {1, 1, 1, 4}, {1, 2, 3, 4}), "--out", y, "k_out=" + x});
  expect_error(2, "this call gives no mask: leave", {"run", "dropout", "--in", x, "--out", y, "mask=" + x});
  expect_near("x.npy", kX);
  EXPECT_FALSE(cli_testing::fs::exists(y));
}

// No file of two words' size makes the program ask for more than there is.
TEST_F(CliRun, WhatMemoryDoesNotHoldIsRefused) {
  const std::string none = path("none.npy");
  ASSERT_TRUE(write_npy(none, contiguous_view<const void>(nullptr, DType::f32, kCpu,
                                                          Extents{0, std::int64_t{1} << 40}))
                  .ok());
  expect_error(3, "the call needs 16 TiB on the host, which has",
               {"run", "layer_norm_backward", "--in", none, none, "--out", path("dx.npy"),
                "dweight=" + path("dw.npy"), "dbias=" + path("db.npy")});
}

TEST_F(CliRun, FilesThatFitNoTensorAreRefused) {
  const std::string x = write("x.npy", kShape, kX);
  const std::string y = path("y.npy");
  expect_error(2, "layer_norm takes 1 to 3 --in files (x, weight, bias), not 4",
               {"run", "layer_norm", "--in", x, x, x, x, "--out", y});
  expect_error(2, "layer_norm has no x: add --in x=FILE",
               {"run", "layer_norm", "--in", "weight=" + x, "--out", y});
  expect_error(
      2, "name one of x=, residual=, weight=, bias=", {"run", "layer_norm", "--in", x, "y=" + x, "--out", y});
  expect_error(2, "x has a file already", {"run", "layer_norm", "--in", "x=" + x, "x=" + x, "--out", y});
  expect_error(2, "add --in residual=FILE", {"run", "layer_norm", "--in", x, "--out", y, "residual=" + y});
  expect_error(2, "No such file", {"run", "layer_norm", "--in", path("a=b.npy"), "--out", y});
  EXPECT_FALSE(cli_testing::fs::exists(y));
}

}  // namespace
}  // namespace rooftile
