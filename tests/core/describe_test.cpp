// What the slots and parameters of an operator say is asked of every call: one test per rule, for all operators.
#include "rooftile/core/describe.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <string>

namespace rooftile {

enum class Shade { light, dark };
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Shade> = {"light", "dark"};

namespace {

struct Args {
  ConstTensorView x;
  ConstTensorView bias{};
  TensorView y;
  TensorView state;
  Shade shade = Shade::dark;
  float alpha = 0.5f;
  std::optional<int> axis = std::nullopt;
  DType as = DType::f16;
  Extents tile = {8, 16};
};

bool g_ran = false;
Status launch(const Call<Args>&) {
  g_ran = true;
  return {};
}

class Described : public testing::Test {
 protected:
  Described()
      : op_(describe<Args>({
            .name = "dummy",
            .summary = "",
            .maths = "",
            .model = "",
            .source = "",
            .slots = {in("x", &Args::x, {.dtypes = {DType::f32, DType::i32}, .min_rank = 1, .max_rank = 2}),
                      in("bias", &Args::bias, {.dtypes = {DType::f32}, .dense = true, .optional = true}),
                      out("y", &Args::y, {.dtype_of = "x", .shape_of = "x", .may_alias = "x"}),
                      inout("state", &Args::state, {.dtypes = {DType::f32}, .dense = true})},
            .params = {param("shade", &Args::shade, {}),
                       param("alpha", &Args::alpha, {.minimum = 0, .maximum = 1}),
                       param("axis", &Args::axis, {.minimum = -2, .maximum = 1, .none = "all"}),
                       param("as", &Args::as, {}), param("tile", &Args::tile, {.minimum = 1, .maximum = 64})},
            .choose = [](const Args&, const DeviceProperties&) -> std::string_view { return "host"; },
            .rungs = {{.rung = cpu_rung<Args>("host", launch), .idea = ""}},
        })) {
    g_ran = false;
    args_ = {.x = view(0, 4), .y = view(8, 4), .state = view(16, 4)};
  }
  TensorView view(int first, std::int64_t n, std::int64_t stride = 1, DType dtype = DType::f32) {
    return {static_cast<void*>(memory_.data() + first), dtype, kCpu, Extents{n}, Extents{stride}};
  }
  std::string rule(CallStage stage = CallStage::complete) {
    const ArgsRef args = ArgsRef::of(args_);
    return op_.check(args, SlotViews(op_.slots, args), kCpu, stage).rule();
  }

  OperatorDescriptor op_;
  std::array<float, 64> memory_{};
  Args args_;
};

TEST_F(Described, TakesWhatTheSlotsAllow) {
  EXPECT_EQ(rule(), "");
  args_.bias = view(32, 4);
  EXPECT_EQ(rule(), "");
}

TEST_F(Described, AnOptionalSlotMayBeAbsentAndAnotherNot) {
  args_.x = {};
  EXPECT_NE(rule(), "");
}

TEST_F(Described, Dtypes) {
  args_.x = view(0, 4, 1, DType::f16);
  EXPECT_EQ(rule(), "x must be one of f32 i32");
  args_.x = view(0, 4, 1, DType::i32);
  EXPECT_EQ(rule(), "y must have the dtype of x, i32");
  args_.y.dtype = DType::i32;
  args_.state.dtype = DType::i32;
  EXPECT_EQ(rule(), "state must be f32");
}

TEST_F(Described, RanksAndShapes) {
  args_.x = rooftile::view(memory_.data(), {1, 1, 4});
  EXPECT_EQ(rule(), "x must have 1 to 2 dimensions");
  args_.x = view(0, 3);
  EXPECT_EQ(rule(), "y must have the shape of x");
}

TEST_F(Described, Layouts) {
  args_.state = view(16, 4, 2);
  EXPECT_EQ(rule(), "state must be row-major without gaps: copy it first");
  args_.state = view(16, 4);
  args_.x = view(0, 4, 0);
  EXPECT_EQ(rule(), "");
  args_.y = view(8, 4, 0);
  EXPECT_EQ(rule(), "y's strides must give every element a place of its own");
}

TEST_F(Described, DevicesAreThoseOfTheCall) {
  args_.y.device = kSim;
  EXPECT_EQ(rule(),
            "y is on sim and the call runs on cpu: use a Context or stream of its device, or copy it");
}

TEST_F(Described, OutputsOverlapNothingButWhatTheyMayAlias) {
  args_.y = view(0, 4);
  EXPECT_EQ(rule(), "");
  args_.y = view(1, 4);
  EXPECT_EQ(rule(), "y must be x itself, with its shape and strides, or not overlap it");
  args_.y = view(8, 4);
  args_.state = view(11, 4);
  EXPECT_EQ(rule(), "state must not overlap y");
  args_.state = view(3, 4);
  EXPECT_EQ(rule(), "state must not overlap x");
}

TEST_F(Described, OutputsMayInterleaveWithInputs) {
  args_.x = view(0, 4, 2);
  args_.y = view(1, 4, 2);
  EXPECT_EQ(rule(), "");
  args_.y = view(2, 4, 2);
  EXPECT_EQ(rule(), "y must be x itself, with its shape and strides, or not overlap it");
}

TEST_F(Described, Parameters) {
  args_.alpha = 1.5f;
  EXPECT_EQ(rule(), "alpha is 1.5: use a number from 0 to 1");
  args_.alpha = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(rule(), "");
  args_.alpha = 0.5f;
  args_.axis = 2;
  EXPECT_EQ(rule(), "axis is 2: use an integer from -2 to 1, or all");
  args_.axis = std::nullopt;
  args_.shade = static_cast<Shade>(7);
  EXPECT_EQ(rule(), "shade is 7: use light | dark");
  args_.shade = Shade::light;
  args_.tile = {8, 128};
  EXPECT_EQ(rule(), "tile is 8,128: use integers from 1 to 64, divided by commas, or none");
}

TEST_F(Described, WhatIsNotThereYetIsNotAskedFor) {
  args_.x.data = nullptr;
  EXPECT_NE(rule(), "");
  EXPECT_EQ(rule(CallStage::no_memory), "");
  EXPECT_EQ(rule(CallStage::inputs_only), "y is given to a call that makes it: leave it out");
  args_.y = {};
  EXPECT_EQ(rule(CallStage::inputs_only), "");
  args_.alpha = 7;
  EXPECT_NE(rule(CallStage::inputs_only), "");
}

TEST_F(Described, DefaultsAreThoseOfTheMembers) {
  const Params params(op_.params);
  EXPECT_EQ(params.get_string("shade"), "dark");
  EXPECT_EQ(params.get_double("alpha"), 0.5);
  EXPECT_EQ(params.get_optional_int("axis"), std::nullopt);
  EXPECT_EQ(to_string(params.at("axis")), "all");
  EXPECT_EQ(to_string(params.at("as")), "f16");
  EXPECT_EQ(to_string(params.at("tile")), "8,16");
}

TEST_F(Described, ArgumentsComeFromTensorsAndText) {
  Params params(op_.params);
  EXPECT_EQ(params.set(op_.params, "tile", "4,2Ki").rule(),
            "parameter tile: 2048 is out of range: use 1 to 64");
  ASSERT_TRUE(params.set(op_.params, "shade", "light").ok());
  ASSERT_TRUE(params.set(op_.params, "axis", "-1").ok());
  ASSERT_TRUE(params.set(op_.params, "as", "bf16").ok());
  ASSERT_TRUE(params.set(op_.params, "tile", "4,2").ok());
  const std::array<TensorView, 4> tensors = {view(0, 4), TensorView{}, view(8, 4), view(16, 4)};
  const Result<AnyArgs> any = op_.make_args(tensors, params);
  ASSERT_TRUE(any.ok()) << any.status().sentence();
  const Args& args = any->as<Args>();
  EXPECT_EQ(args.shade, Shade::light);
  EXPECT_EQ(args.axis, -1);
  EXPECT_EQ(args.as, DType::bf16);
  EXPECT_TRUE(args.tile == (Extents{4, 2}));
  EXPECT_TRUE(is_absent(args.bias));
  EXPECT_EQ(args.y.data, memory_.data() + 8);
  EXPECT_EQ(op_.describe(*any),
            "x f32[4], y f32[4], state f32[4], shade=light, alpha=0.5, axis=-1, as=bf16, tile=4,2");
}

TEST_F(Described, OutputsAreInferredFromTheSlotsTheyAreLike) {
  const std::array<TensorSpec, 3> inputs = {
      {{DType::i32, Extents{3, 4}}, absent_spec(), {DType::f32, Extents{5}}}};
  const auto outputs = op_.infer_outputs(inputs, Params(op_.params));
  ASSERT_TRUE(outputs.ok());
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->front().dtype, DType::i32);
  EXPECT_TRUE(outputs->front().shape == (Extents{3, 4}));
}

TEST_F(Described, ACallThatWritesNothingRunsNothing) {
  Context context = Context::create(kCpu).value();
  args_.x = view(0, 0);
  args_.y = view(8, 0);
  EXPECT_TRUE(run(op_, context, ArgsRef::of(args_)).ok());
  EXPECT_TRUE(g_ran) << "state has elements";
  g_ran = false;
  args_.state = view(16, 0);
  EXPECT_TRUE(run(op_, context, ArgsRef::of(args_)).ok());
  EXPECT_FALSE(g_ran);
}

TEST_F(Described, ErrorsCarryTheCall) {
  Context context = Context::create(kCpu).value();
  args_.axis = 5;
  EXPECT_EQ(
      run(op_, context, ArgsRef::of(args_)).sentence(),
      "dummy: axis is 5: use an integer from -2 to 1, or all (x f32[4], y f32[4], state f32[4], shade=dark, "
      "alpha=0.5, axis=5, as=f16, tile=8,16)");
}

}  // namespace
}  // namespace rooftile
