#include "rooftile/lab/inspect/sass_opcodes.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace rooftile::lab {
namespace {

struct Opcode {
  std::string_view base;
  std::string_view text;
};

// Memory instructions and what they do; all of InstructionClass::memory.
constexpr auto kAccesses = std::to_array<Opcode>({
    {"LDG", "global load"},         {"STG", "global store"},         {"LD", "generic load"},
    {"ST", "generic store"},        {"ATOMG", "global atomic"},      {"REDG", "global atomic"},
    {"RED", "global atomic"},       {"ATOM", "global atomic"},       {"LDGSTS", "asynchronous copy"},
    {"LDS", "shared load"},         {"LDSM", "shared load"},         {"STS", "shared store"},
    {"STSM", "shared store"},       {"ATOMS", "shared atomic"},      {"REDS", "shared atomic"},
    {"LDL", "local load"},          {"STL", "local store"},          {"UBLKCP", "bulk copy"},
    {"UBLKRED", "bulk copy"},       {"UBLKPF", "bulk copy"},         {"UTMALDG", "bulk copy"},
    {"UTMASTG", "bulk copy"},       {"UTMAREDG", "bulk copy"},       {"UTMAPF", "bulk copy"},
    {"LDTM", "tensor memory load"}, {"STTM", "tensor memory store"}, {"TEX", "texture load"},
    {"TLD", "texture load"},        {"SULD", "surface load"},        {"SUST", "surface store"},
});

constexpr auto kTells = std::to_array<Opcode>({
    {"HGMMA", "warpgroup matrix product (wgmma)"},
    {"IGMMA", "warpgroup matrix product (wgmma)"},
    {"QGMMA", "warpgroup matrix product (wgmma)"},
    {"BGMMA", "warpgroup matrix product (wgmma)"},
    {"HMMA", "matrix product (mma)"},
    {"IMMA", "matrix product (mma)"},
    {"DMMA", "matrix product (mma)"},
    {"UTMALDG", "TMA load"},
    {"UTMASTG", "TMA store"},
    {"UTMAREDG", "TMA reduction"},
    {"UBLKCP", "bulk copy (cp.async.bulk)"},
    {"LDGSTS", "asynchronous copy (cp.async)"},
    {"LDSM", "ldmatrix"},
    {"STSM", "stmatrix"},
    {"SYNCS", "mbarrier"},
    {"BAR", "block barrier"},
    {"SHFL", "shuffle"},
    {"REDUX", "warp reduction in hardware"},
    {"ATOMG", "atomic with a result"},
    {"MUFU", "special function: exp2, log2, reciprocal, ..."},
    {"CALL", "call of what was not inlined: 64-bit division, ..."},
});

constexpr auto kFma = std::to_array<std::string_view>(
    {"FFMA",  "FADD",   "FMUL",  "FFMA2",  "FADD2",   "FMUL2", "FFMA32I", "FADD32I", "FMUL32I", "HFMA2",
     "HADD2", "HMUL2",  "DFMA",  "DADD",   "DMUL",    "FMNMX", "FMNMX3",  "FSEL",    "FSET",    "FSETP",
     "FCHK",  "HMNMX2", "HSET2", "HSETP2", "HFMA2_V", "DSETP", "DMNMX",   "DSET",    "FSWZADD", "HFMA"});

constexpr auto kInteger = std::to_array<std::string_view>(
    {"IADD",  "IADD3",     "IADD32I", "IADD64",   "IMAD",      "IMUL",  "LEA",   "LOP",    "LOP3",
     "SHF",   "SHL",       "SHR",     "ISETP",    "ISET",      "IMNMX", "VIADD", "VIMNMX", "VIMNMX3",
     "IABS",  "PRMT",      "SEL",     "BMSK",     "BREV",      "FLO",   "POPC",  "SGXT",   "IDP",
     "IDP4A", "VIADDMNMX", "PLOP3",   "VABSDIFF", "VABSDIFF4", "VHMNMX"});

constexpr auto kControl = std::to_array<std::string_view>(
    {"BRA",          "BRX",       "JMP",         "JMX",        "CALL",      "RET",           "EXIT",
     "KILL",         "BSSY",      "BSYNC",       "BREAK",      "BMOV",      "BAR",           "SYNCS",
     "DEPBAR",       "MEMBAR",    "ERRBAR",      "CGAERRBAR",  "FENCE",     "WARPSYNC",      "YIELD",
     "BPT",          "ELECT",     "ARRIVES",     "CCTL",       "NANOSLEEP", "ENDCOLLECTIVE", "PREEXIT",
     "ACQBULK",      "WARPGROUP", "UTCBAR",      "RPCMOV",     "LDGDEPBAR", "UCGABAR_ARV",   "UCGABAR_WAIT",
     "UTMACMDFLUSH", "UTMACCTL",  "UCGABAR_GET", "USETMAXREG", "UVIRTCOUNT"});

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <std::size_t kCount>
std::string_view find_text(const std::array<Opcode, kCount>& opcodes, std::string_view base) {
  const auto found =
      std::find_if(opcodes.begin(), opcodes.end(), [&](const Opcode& opcode) { return opcode.base == base; });
  return found == opcodes.end() ? std::string_view() : found->text;
}

// An addition or product of nothing: how SASS moves a value or a constant where that pipe is free.
bool is_disguised_move(const SassInstruction& instruction) {
  if (instruction.opcode.starts_with("IMAD.MOV")) return true;
  return instruction.base() == "HFMA2" && instruction.operands.find(", -RZ, RZ, ") != std::string::npos;
}

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (!opcode.empty()) {
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    parts.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return parts;
}

}  // namespace

std::string_view to_string(InstructionClass kind) {
  constexpr std::array<std::string_view, kInstructionClasses> kNames = {"memory",  "fma",     "tensor",
                                                                        "integer", "control", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

InstructionClass class_of(const SassInstruction& instruction) {
  const std::string_view base = instruction.base();
  if (!find_text(kAccesses, base).empty()) return InstructionClass::memory;
  if (base.ends_with("MMA")) return InstructionClass::tensor;
  if (is_disguised_move(instruction)) return InstructionClass::other;
  if (is_one_of(kControl, base)) return InstructionClass::control;
  // The same on the uniform pipe, for all lanes at once: UIADD3.
  const std::string_view plain = base.starts_with('U') ? base.substr(1) : base;
  if (is_one_of(kFma, base) || is_one_of(kFma, plain)) return InstructionClass::fma;
  if (is_one_of(kInteger, base) || is_one_of(kInteger, plain)) return InstructionClass::integer;
  return InstructionClass::other;
}

std::string_view access_of(const SassInstruction& instruction) {
  return find_text(kAccesses, instruction.base());
}

std::string_view meaning_of(const SassInstruction& instruction) {
  return find_text(kTells, instruction.base());
}

bool is_shared_load(const SassInstruction& instruction) { return access_of(instruction) == "shared load"; }

bool is_global_load(const SassInstruction& instruction) {
  const std::string_view what = access_of(instruction);
  return what == "global load" || what == "generic load" || what == "asynchronous copy" ||
         instruction.base() == "UTMALDG" || instruction.opcode.starts_with("UBLKCP.S");  // into shared memory
}

int bytes_per_lane(const SassInstruction& instruction) {
  constexpr auto kWidths = std::to_array<std::pair<std::string_view, int>>(
      {{"256", 32}, {"128", 16}, {"64", 8}, {"F64", 8}, {"U16", 2}, {"S16", 2}, {"U8", 1}, {"S8", 1}});
  if (access_of(instruction) == "bulk copy") return 0;
  const std::vector<std::string_view> parts = parts_of(instruction.opcode);
  // A matrix of 8x8 16-bit elements is 4 bytes per lane: LDSM.16.M88.4 loads four.
  if (parts.front() == "LDSM" || parts.front() == "STSM")
    return parts.back() == "4" ? 16 : parts.back() == "2" ? 8 : 4;
  for (const auto& [width, bytes] : kWidths) {
    if (std::find(parts.begin(), parts.end(), width) != parts.end()) return bytes;
  }
  return 4;
}

}  // namespace rooftile::lab
