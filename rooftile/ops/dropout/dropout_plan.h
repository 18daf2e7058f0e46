// What every rung of dropout needs of a call, in numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/integers.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/rows.h"
#include "rooftile/core/rung.h"
#include "rooftile/ops/dropout/dropout.h"

namespace rooftile::dropout_plan {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kVectorBytes = 16;

// Places of the tensors in Rows.
inline constexpr std::size_t kX = 0;
inline constexpr std::size_t kResidual = 1;
inline constexpr std::size_t kY = 2;
inline constexpr std::size_t kTensors = 3;

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

// A scalar is a row of one.
inline Rows<kTensors> geometry(const DropoutArgs& args) {
  if (args.x.rank() > 0) return rows_of<kTensors>({args.x, args.residual, args.y});
  Rows<kTensors> rows;
  rows.length = 1;
  return rows;
}

inline bool is_dense(const DropoutArgs& args) {
  return args.x.contiguous() && args.y.contiguous() &&
         (is_absent(args.residual) || args.residual.contiguous());
}

inline bool has_vectors(const DropoutArgs& args) {
  const auto is_aligned = [](const ConstTensorView& view) {
    return is_absent(view) || reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes == 0;
  };
  return is_aligned(args.x) && is_aligned(args.residual) && is_aligned(args.y);
}

// Whether all rows are whole vectors at multiples of 16 bytes.
inline bool has_vector_rows(const DropoutArgs& args) {
  const Rows<kTensors> rows = geometry(args);
  const auto size = static_cast<std::int64_t>(size_of(args.x.dtype));
  const auto is_whole = [&](const ConstTensorView& view, std::size_t tensor) {
    const RowPitch& place = rows.tensors[tensor];
    return is_absent(view) || (place.step == 1 && place.pitch * size % kVectorBytes == 0 &&
                               place.outer_pitch * size % kVectorBytes == 0);
  };
  return has_vectors(args) && rows.length * size % kVectorBytes == 0 && is_whole(args.x, kX) &&
         is_whole(args.residual, kResidual) && is_whole(args.y, kY);
}

}  // namespace rooftile::dropout_plan
