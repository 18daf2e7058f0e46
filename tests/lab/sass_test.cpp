// Machine code that nvdisasm 13 printed: what its instructions do, its loops, and how often they were
// unrolled.
#include "rooftile/lab/inspect/sass.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "rooftile/lab/inspect/sass_loops.h"
#include "rooftile/lab/inspect/sass_summary.h"

namespace rooftile::lab {
namespace {

SassFunction recorded(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(ROOFTILE_TESTS_DIR) + "/lab/sass/" + name).rdbuf();
  const std::vector<SassFunction> functions = parse_sass(text.str(), "/src");
  EXPECT_EQ(functions.size(), 1u) << name;
  return functions.empty() ? SassFunction{} : functions.front();
}

// Lines of code as a function.
SassFunction written(const std::string& code) { return parse_sass(".text.k:\n" + code, "/src").at(0); }

SassInstruction instruction(const std::string& text) {
  return written("  /*0000*/ " + text + " ;\n").instructions.at(0);
}

TEST(Sass, ReadsInstructionsAndWhereTheyComeFrom) {
  const SassFunction function = recorded("multiple_adds.sass");
  EXPECT_NE(function.symbol.find("multiple_adds_kernel"), std::string::npos);
  EXPECT_EQ(function.instructions.front().opcode, "LDC");
  EXPECT_EQ(function.instructions.front().operands, "R1, c[0x0][0x28]");
  EXPECT_EQ(function.instructions.front().line, "rooftile/ops/reduce/rungs/r60_multiple_adds.cu:20");
  const SassInstruction& branch = function.instructions.at(function.labels.at(".L_x_6") - 1);
  EXPECT_EQ(branch.opcode, "BRA");
  EXPECT_TRUE(branch.predicated);
  EXPECT_EQ(branch.operands, "`(.L_x_7)");
  const SassInstruction& sum = function.instructions.at(function.labels.at(".L_x_6") - 2);
  EXPECT_EQ(sum.base(), "FADD");
  EXPECT_EQ(sum.line, "rooftile/ops/reduce/reduce_functor.h:113");
  EXPECT_EQ(sum.inlined,
            "rooftile/ops/reduce/reduce_functor.h:113 rooftile/ops/reduce/rungs/r60_multiple_adds.cu:28");
}

// A wrapper's line is its caller's.
TEST(Sass, ALineIsTheAuthors) {
  const SassFunction function = written(
      "	//## File \"/usr/local/cuda/include/sm_30_intrinsics.hpp\", line 110 inlined at "
      "\"/src/rooftile/device/warp.h\", line 25\n"
      "	//## File \"/src/rooftile/device/warp.h\", line 25 inlined at \"/src/rooftile/ops/x/x.cu\", line 7\n"
      "	//## File \"/src/rooftile/ops/x/x.cu\", line 7\n"
      "  /*0000*/ SHFL.DOWN PT, R7, R2, 0x10, 0x1f ;\n"
      "  /*0010*/ EXIT ;\n");
  EXPECT_EQ(function.instructions.at(0).line, "rooftile/ops/x/x.cu:7");
  EXPECT_EQ(function.instructions.at(1).line, "rooftile/ops/x/x.cu:7");
}

TEST(Sass, ClassesAndWidths) {
  const struct {
    const char* text;
    InstructionClass kind;
    const char* access;
    int bytes;
  } kCases[] = {
      {"LDG.E.128.CONSTANT R8, desc[UR8][R54.64]", InstructionClass::memory, "global load", 16},
      {"@P0 LDG.E.U16 R8, desc[UR8][R54.64]", InstructionClass::memory, "global load", 2},
      {"LDG.E.LTC128B.64 R8, desc[UR8][R54.64]", InstructionClass::memory, "global load", 8},
      {"STG.E desc[UR6][R2.64], R5", InstructionClass::memory, "global store", 4},
      {"LDGSTS.E.BYPASS.128 [R9], desc[UR4][R2.64]", InstructionClass::memory, "asynchronous copy", 16},
      {"LDSM.16.M88.4 R4, [R12]", InstructionClass::memory, "shared load", 16},
      {"STL.64 [R1+0x8], R2", InstructionClass::memory, "local store", 8},
      {"UTMALDG.3D [UR8], [UR4]", InstructionClass::memory, "bulk copy", 0},
      {"UBLKCP.S.G [UR8], [UR22], UR10", InstructionClass::memory, "bulk copy", 0},
      {"ATOMG.E.INC.STRONG.GPU PT, R2, desc[UR4][R2.64], R5", InstructionClass::memory, "global atomic", 4},
      {"REDG.E.ADD.F64.RN.STRONG.GPU desc[UR6][R2.64], R4", InstructionClass::memory, "global atomic", 8},
      {"HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24", InstructionClass::tensor, "", 0},
      {"FFMA R2, R3, R4, R2", InstructionClass::fma, "", 0},
      {"HFMA2.MMA R4, R5, R6, R7", InstructionClass::fma, "", 0},
      {"HFMA2.MMA R11, -RZ, RZ, 0, 0", InstructionClass::other, "", 0},
      {"IMAD.MOV.U32 R10, RZ, RZ, RZ", InstructionClass::other, "", 0},
      {"IMAD.WIDE.U32 R2, R0, 0x4, R2", InstructionClass::integer, "", 0},
      {"UIADD3 UR5, UR4, 0x1, URZ", InstructionClass::integer, "", 0},
      {"@!P0 BRA `(.L_x_8)", InstructionClass::control, "", 0},
      {"BAR.SYNC.DEFER_BLOCKING 0x0", InstructionClass::control, "", 0},
      {"ULDC.64 UR8, c[0x0][0x210]", InstructionClass::other, "", 0},
      {"SHFL.DOWN PT, R7, R2, 0x10, 0x1f", InstructionClass::other, "", 0},
  };
  for (const auto& c : kCases) {
    const SassInstruction i = instruction(c.text);
    EXPECT_EQ(class_of(i), c.kind) << c.text;
    EXPECT_EQ(access_of(i), c.access) << c.text;
    if (*c.access == '\0') continue;
    EXPECT_EQ(bytes_per_lane(i), c.bytes) << c.text;
  }
  EXPECT_TRUE(is_global_load(instruction("UTMALDG.3D [UR8], [UR4]")));
  EXPECT_FALSE(is_global_load(instruction("UTMASTG.3D [UR8], [UR4]")));
}

TEST(SassSummary, FindsTheUnrolledLoopAndItsRemainder) {
  const SassSummary summary = summarize(recorded("multiple_adds.sass"));
  ASSERT_EQ(summary.loops.size(), 2u);
  const LoopSummary& remainder = summary.loops[0];
  EXPECT_EQ(remainder.line, "rooftile/ops/reduce/rungs/r60_multiple_adds.cu:27");
  EXPECT_EQ(remainder.instructions, 12);
  EXPECT_EQ(remainder.global_loads, 1);
  EXPECT_EQ(remainder.arithmetic, 1);
  EXPECT_EQ(remainder.copies, 1);
  const LoopSummary& main = summary.loops[1];
  EXPECT_EQ(main.global_loads, 4);
  EXPECT_EQ(main.arithmetic, 4);
  EXPECT_EQ(main.copies, 4);
  EXPECT_EQ(main.copied_line, "rooftile/ops/reduce/rungs/r60_multiple_adds.cu:28");
  EXPECT_EQ(summary.widest("global load"), 4);
  EXPECT_EQ(summary.widest("global store"), 4);
  EXPECT_EQ(summary.widest("local load"), 0);
  // Neither the padding behind the end nor the trap there is code.
  EXPECT_EQ(summary.count(InstructionClass::fma), 5);
  int sum = 0;
  for (const int count : summary.counts) sum += count;
  EXPECT_EQ(sum, summary.instructions);
}

// Code out of line jumps back to where it was left: BRA.DIV of a shuffle, a slow path.
TEST(SassLoops, ReturningFromOutOfLineIsNoLoop) {
  EXPECT_TRUE(find_loops(written("  /*0000*/ @P0 BRA `(.L_x_2) ;\n"
                                 ".L_x_1:\n"
                                 "  /*0010*/ STG.E [R2], R3 ;\n"
                                 "  /*0020*/ EXIT ;\n"
                                 ".L_x_2:\n"
                                 "  /*0030*/ FADD R3, R3, R3 ;\n"
                                 "  /*0040*/ BRA `(.L_x_1) ;\n"
                                 ".L_x_3:\n"
                                 "  /*0050*/ BRA `(.L_x_3) ;\n"))
                  .empty());
}

TEST(SassLoops, NestedLoopsKeepTheirOwnInstructions) {
  const SassFunction function = written(
      "  /*0000*/ MOV R1, RZ ;\n"
      ".L_x_0:\n"
      "  /*0010*/ LDG.E R2, [R4.64] ;\n"
      ".L_x_1:\n"
      "  /*0020*/ FADD R3, R3, R2 ;\n"
      "  /*0030*/ FADD R3, R3, R2 ;\n"
      "  /*0040*/ @P0 BRA `(.L_x_1) ;\n"
      "  /*0050*/ @P2 BRA `(.L_x_3) ;\n"
      ".L_x_2:\n"
      "  /*0060*/ @P1 BRA `(.L_x_0) ;\n"
      "  /*0070*/ EXIT ;\n"
      ".L_x_3:\n"  // out of line, and part of the outer loop
      "  /*0080*/ STG.E [R4.64], R3 ;\n"
      "  /*0090*/ BRA `(.L_x_2) ;\n");
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].head, 1u);
  EXPECT_EQ(loops[0].depth, 0);
  EXPECT_EQ(loops[0].body, (std::vector<std::size_t>{1, 5, 6, 8, 9}));
  EXPECT_EQ(loops[1].head, 2u);
  EXPECT_EQ(loops[1].depth, 1);
  EXPECT_EQ(loops[1].body, (std::vector<std::size_t>{2, 3, 4}));
}

// A loop whose way back leads through the reconvergence of a branch in it.
TEST(SassLoops, GoOnBehindTheirConvergenceBarrier) {
  const SassFunction function = written(
      "  /*0000*/ MOV R1, RZ ;\n"
      ".L_x_0:\n"
      "  /*0010*/ BSSY B0, `(.L_x_2) ;\n"
      "  /*0020*/ @P0 BRA `(.L_x_1) ;\n"
      "  /*0030*/ LDS R2, [R4] ;\n"
      "  /*0040*/ BSYNC B0 ;\n"
      ".L_x_1:\n"
      "  /*0050*/ FADD R2, R2, R2 ;\n"
      "  /*0060*/ BSYNC B0 ;\n"
      "  /*0070*/ EXIT ;\n"  // nobody comes here
      ".L_x_2:\n"
      "  /*0080*/ @P1 BRA `(.L_x_0) ;\n"
      "  /*0090*/ EXIT ;\n");
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].body, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 8}));
}

TEST(Sass, NothingIsNoFunction) {
  EXPECT_TRUE(parse_sass("", "/src").empty());
  EXPECT_TRUE(parse_sass("	.headerflags	@\"EF_CUDA_SM90\"\n", "/src").empty());
  EXPECT_TRUE(find_loops(SassFunction{}).empty());
  EXPECT_EQ(summarize(SassFunction{}).instructions, 0);
}

}  // namespace
}  // namespace rooftile::lab
