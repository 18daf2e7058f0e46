// What every rung of dropout needs of a call, in numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "rooftile/core/integers.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/rung.h"
#include "rooftile/ops/dropout/dropout.h"

namespace rooftile::dropout_plan {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kVectorBytes = 16;

struct Rule {
  std::uint32_t threshold = 0;  // words below it are left out
  bool all_kept = true;
  bool none_kept = false;
  float scale = 1;
};

inline Rule rule_of(const DropoutArgs& args) {
  Rule rule;
  if (!args.training) {
    rule.scale = args.upscale ? 1.0f : static_cast<float>(1 - args.p);
    return rule;
  }
  const double limit = std::nearbyint(args.p * 0x1p32);
  rule.none_kept = args.p == 1 || (limit >= 0x1p32 && is_absent(args.kept));
  rule.all_kept = limit == 0 && is_absent(args.kept);
  rule.threshold = limit >= 0x1p32 ? 0xffffffffu : static_cast<std::uint32_t>(limit);
  rule.scale = !args.upscale || rule.none_kept ? 1.0f : static_cast<float>(1 / (1 - args.p));
  return rule;
}

// Whether counter is raised.
inline bool advances(const DropoutArgs& args) { return !is_absent(args.counter) && !args.replay; }

inline std::int64_t stream_of(const DropoutArgs& args, std::int64_t counted) {
  // Of 64 bits, which wrap.
  return std::bit_cast<std::int64_t>(static_cast<std::uint64_t>(args.offset) +
                                     static_cast<std::uint64_t>(counted) -
                                     (args.replay && !is_absent(args.counter) ? 1u : 0u));
}

inline std::int64_t columns_of(const DropoutArgs& args) {
  return args.x.rank() == 0 ? 1 : args.x.shape[args.x.rank() - 1];
}

inline bool has_vectors(const DropoutArgs& args) {
  const auto is_aligned = [](const ConstTensorView& view) {
    return is_absent(view) || reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes == 0;
  };
  return is_aligned(args.x) && is_aligned(args.residual) && is_aligned(args.y);
}

}  // namespace rooftile::dropout_plan
