// CPU rung packed: every core multiplies packed panels by a kernel that keeps its sums in vector registers.
//
// Source     Goto and van de Geijn (2008), "Anatomy of high-performance matrix multiplication".
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>

#include "rooftile/ops/gemm/gemm_cpu.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using gemm_plan::HostBlock;

// Adds the product of a panel of a, kRows elements for each step, and one of b, kVectors vectors for each, to kRows rows of sums,
// `pitch` elements apart.
template <class T, int kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void add_panels(const T* a, const T* b, std::int64_t steps, T* sums,
                                              std::int64_t pitch) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  typedef T Vector
      __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));  // NOLINT(modernize-use-using)
  Vector acc[kRows][kVectors] = {};
  for (std::int64_t l = 0; l < steps; ++l) {
    Vector of_b[kVectors];
    for (int v = 0; v < kVectors; ++v)
      of_b[v] = *reinterpret_cast<const Vector*>(b + (l * kVectors + v) * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) acc[i][v] += a[l * kRows + i] * of_b[v];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Vector*>(sums + i * pitch + v * kLanes) += acc[i][v];
}

// What a processor multiplies at once: as many sums as its vector registers hold beside the operands.
template <class T>
struct Kernel {
  int rows;
  int columns;
  void (*add)(const T* a, const T* b, std::int64_t steps, T* sums, std::int64_t pitch);
};

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx512f")]] void add_avx512(const T* a, const T* b, std::int64_t steps, T* sums,
                                           std::int64_t pitch) {
  add_panels<T, 64, 12, 2>(a, b, steps, sums, pitch);
}
template <class T>
[[gnu::target("avx2,fma")]] void add_avx2(const T* a, const T* b, std::int64_t steps, T* sums,
                                          std::int64_t pitch) {
  add_panels<T, 32, 6, 2>(a, b, steps, sums, pitch);
}
#endif
template <class T>
void add_portable(const T* a, const T* b, std::int64_t steps, T* sums, std::int64_t pitch) {
  add_panels<T, 16, 4, 2>(a, b, steps, sums, pitch);
}

template <class T>
Kernel<T> kernel_of_this_processor() {
  constexpr int kSize = sizeof(T);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {12, 128 / kSize, add_avx512<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, 64 / kSize, add_avx2<T>};
#endif
  return {4, 32 / kSize, add_portable<T>};
}

// A block of out by one thread, in memory of its own. Operands of 16 bits are packed as floats.
template <class T>
class Block {
 public:
  Block(const Problem& p, DType out, const Kernel<Sum<T>>& kernel, Sum<T>* memory)
      : p_(p),
        out_(out),
        kernel_(kernel),
        sums_(memory),
        a_(sums_ + HostBlock::kSums),
        b_(a_ + HostBlock::kA) {}

  void run(std::int64_t batch, std::int64_t row, std::int64_t column) {
    const std::int64_t rows = std::min(HostBlock::kRows, p_.m - row);
    const std::int64_t columns = std::min(HostBlock::kColumns, p_.n - column);
    std::fill_n(sums_, HostBlock::kSums, Sum<T>{0});
    const auto* a = static_cast<const T*>(p_.a_data) + batch * p_.a.batch + row * p_.a.row;
    const auto* b = static_cast<const T*>(p_.b_data) + batch * p_.b.batch + column * p_.b.column;
    for (std::int64_t l = 0; l < p_.k; l += HostBlock::kDepth) {
      const std::int64_t steps = std::min(HostBlock::kDepth, p_.k - l);
      pack(a + l * p_.a.column, p_.a.row, p_.a.column, rows, kernel_.rows, steps, a_);
      pack(b + l * p_.b.row, p_.b.column, p_.b.row, columns, kernel_.columns, steps, b_);
      for (std::int64_t j = 0; j < columns; j += kernel_.columns) {
        for (std::int64_t i = 0; i < rows; i += kernel_.rows) {
          kernel_.add(a_ + i * steps, b_ + j * steps, steps, sums_ + i * HostBlock::kColumns + j,
                      HostBlock::kColumns);
        }
      }
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        give<T>(p_, out_, batch, row + i, column + j, sums_[i * HostBlock::kColumns + j]);
  }

 private:
  // Panels of `width` outer elements for each step, zeros behind the last.
  static void pack(const T* from, std::int64_t outer_stride, std::int64_t stride, std::int64_t count,
                   int width, std::int64_t steps, Sum<T>* to) {
    for (std::int64_t first = 0; first < count; first += width) {
      const std::int64_t whole = std::min<std::int64_t>(width, count - first);
      for (std::int64_t l = 0; l < steps; ++l, to += width) {
        const T* line = from + first * outer_stride + l * stride;
        for (std::int64_t i = 0; i < whole; ++i) to[i] = number(line[i * outer_stride]);
        for (std::int64_t i = whole; i < width; ++i) to[i] = Sum<T>{0};
      }
    }
  }

  const Problem& p_;
  DType out_;
  const Kernel<Sum<T>>& kernel_;
  Sum<T>* sums_;
  Sum<T>* a_;
  Sum<T>* b_;
};

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_problem(call.args, [&]<class T>(const Problem& p) {
    const Kernel<Sum<T>> kernel = kernel_of_this_processor<Sum<T>>();
    const std::int64_t block_rows = ceil_div(p.m, HostBlock::kRows);
    const std::int64_t of_matrix = block_rows * ceil_div(p.n, HostBlock::kColumns);
    std::atomic<std::int64_t> next{0};
    const auto work = [&](int slot) {
      Block<T> block(p, call.args.out.dtype, kernel,
                     static_cast<Sum<T>*>(call.workspace.data) + slot * HostBlock::elements());
      for (std::int64_t at = next++; at < of_matrix * p.batches; at = next++)
        block.run(at / of_matrix, at % block_rows * HostBlock::kRows,
                  at % of_matrix / block_rows * HostBlock::kColumns);
    };
    const int slots = call.config<gemm_plan::HostCut>().slots;
    if (slots == 1) return work(0);
    tbb::parallel_for(0, slots, work);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
