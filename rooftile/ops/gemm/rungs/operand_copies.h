// Copies of operands whose rows TMA cannot take: the same elements, in rows at multiples of 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/device/covering_vectors.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// Of elements of 16 bits; what runs along memory in the copy is its columns.
struct CopyJob {
  const std::uint16_t* g_from = nullptr;
  std::uint16_t* g_to = nullptr;
  std::int64_t row_stride = 0;  // of what is copied
  std::int64_t column_stride = 0;
  std::int64_t batch_stride = 0;
  std::int64_t columns = 0;
  unsigned rows = 0;
  unsigned row_chunks = 0;  // of 16 bytes
  unsigned row_parts = 0;   // of kPartChunks
  unsigned parts = 0;       // of all batches; 0: nothing is copied
};
inline constexpr int kCopiesAtOnce = 4;                 // of a thread
inline constexpr int kPartChunks = 32 * kCopiesAtOnce;  // of a warp
inline CopyJob copy_job(const void* from, std::int64_t outer_stride, std::int64_t line_stride,
                        std::int64_t batch_stride, const gemm_plan::WgmmaOperand& operand, void* to) {
  if (!operand.is_copied) return {};
  const bool along = operand.along;
  CopyJob job{.g_from = static_cast<const std::uint16_t*>(from),
              .g_to = static_cast<std::uint16_t*>(to),
              .row_stride = along ? outer_stride : line_stride,
              .column_stride = along ? line_stride : outer_stride,
              .batch_stride = batch_stride,
              .columns = along ? operand.lines : operand.outers,
              .rows = static_cast<unsigned>(along ? operand.outers : operand.lines)};
  job.row_chunks =
      static_cast<unsigned>((along ? operand.outer : operand.line) / kVecElements<std::uint16_t>);
  job.row_parts = ceil_div(job.row_chunks, static_cast<unsigned>(kPartChunks));
  job.parts = static_cast<unsigned>(operand.batches) * job.rows * job.row_parts;
  return job;
}

inline constexpr int kCopyThreads = 256;

using CopiedChunk = Vec<std::uint16_t, kVecElements<std::uint16_t>>;

// Elements `skew` to skew + 7 of two chunks that lie one behind the other.
__device__ __forceinline__ CopiedChunk shifted(const CopiedChunk& first, const CopiedChunk& second,
                                               int skew) {
  std::uint32_t words[9] = {};
  memcpy(words, static_cast<const void*>(&first), sizeof(first));
  memcpy(words + 4, static_cast<const void*>(&second), sizeof(second));
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (skew & 4) != 0 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = (skew & 2) != 0 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], (skew & 1) * 16);
  CopiedChunk chunk;
  memcpy(static_cast<void*>(&chunk), words, sizeof(chunk));
  return chunk;
}

// A part of a row by a warp. What the copy holds behind a row's end is read by nobody.
__device__ __forceinline__ void copy_part(const CopyJob& job, unsigned part) {
  constexpr int kElements = kVecElements<std::uint16_t>;
  const unsigned row = part / job.row_parts;
  const unsigned first = (part - row * job.row_parts) * kPartChunks + threadIdx.x % 32;
  const std::uint16_t* g_row =
      job.g_from + row / job.rows * job.batch_stride + row % job.rows * job.row_stride;
  std::uint16_t* g_to = job.g_to + std::int64_t{row} * job.row_chunks * kElements;
  CopiedChunk chunks[kCopiesAtOnce] = {};
  if (job.column_stride == 1) {
    // By the aligned chunks that cover the row: the second is the next lane's first, and comes from L1.
    const auto covering = CoveringVectors<std::uint16_t>::of(g_row, job.columns);
    CopiedChunk seconds[kCopiesAtOnce] = {};
#pragma unroll
    for (int i = 0; i < kCopiesAtOnce; ++i) {
      const std::int64_t at = first + 32 * i;
      if (at < covering.vectors) chunks[i] = covering.load(at);
      if (at + 1 < covering.vectors) seconds[i] = covering.load(at + 1);
    }
#pragma unroll
    for (int i = 0; i < kCopiesAtOnce; ++i)
      chunks[i] = shifted(chunks[i], seconds[i], static_cast<int>(covering.skew));
  } else {
#pragma unroll
    for (int i = 0; i < kCopiesAtOnce; ++i)
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const std::int64_t column = std::int64_t{first + 32 * i} * kElements + e;
        if (column < job.columns) chunks[i][e] = g_row[column * job.column_stride];
      }
  }
#pragma unroll
  for (int i = 0; i < kCopiesAtOnce; ++i)
    if (first + 32 * i < job.row_chunks)
      store_vec(g_to + std::int64_t{first + 32 * i} * kElements, chunks[i]);
}
template <int kThreads>
__global__ void __launch_bounds__(kThreads) copy_operands_kernel(CopyJob a, CopyJob b) {
  const unsigned part = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
  if (part < a.parts)
    copy_part(a, part);
  else if (part - a.parts < b.parts)
    copy_part(b, part - a.parts);
}

// The operands of a call, copied into its workspace where they have to be.
struct OperandData {
  const void* a;
  const void* b;
};
inline Status copy_operands(const Call<GemmArgs>& call, const Problem& p,
                            const gemm_plan::WgmmaOperands& operands, OperandData& data) {
  auto* g_a = static_cast<std::byte*>(call.workspace.data);
  std::byte* g_b = g_a + operands.a.bytes;
  data = {.a = operands.a.is_copied ? g_a : p.a_data, .b = operands.b.is_copied ? g_b : p.b_data};
  const CopyJob a = copy_job(p.a_data, p.a.row, p.a.column, p.a.batch, operands.a, g_a);
  const CopyJob b = copy_job(p.b_data, p.b.column, p.b.row, p.b.batch, operands.b, g_b);
  const std::int64_t parts = std::int64_t{a.parts} + b.parts;
  if (parts == 0) return {};
  return launch(copy_operands_kernel<kCopyThreads>,
                {.grid = dim3(static_cast<unsigned>(ceil_div(32 * parts, kCopyThreads))),
                 .block = dim3(kCopyThreads),
                 .stream = call.stream},
                a, b);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
