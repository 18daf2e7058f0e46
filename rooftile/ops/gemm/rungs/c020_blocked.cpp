// CPU rung blocked: pieces of b that stay in the cache, rows of sums that the compiler turns into vectors.
#include <algorithm>
#include <array>
#include <vector>

#include "rooftile/ops/gemm/gemm_cpu.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

constexpr std::int64_t kColumns = 256;  // of b, kDepth rows of which are some 256 KiB at most
constexpr std::int64_t kDepth = 128;

// Sums of kRows rows of out, kColumns of them each, over all of k.
constexpr std::int64_t kRows = 16;
template <class T>
using Sums = std::array<std::array<Sum<T>, kColumns>, kRows>;

template <class T>
void add_block(const Problem& p, const T* a, const T* b, std::int64_t rows, std::int64_t columns,
               std::int64_t depth, Sums<T>& sums) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Sum<T>* const row = sums[static_cast<std::size_t>(i)].data();
    for (std::int64_t l = 0; l < depth; ++l) {
      const Sum<T> factor = number(a[i * p.a.row + l * p.a.column]);
      const T* const of_b = b + l * p.b.row;
      if (p.b.column == 1) {
        for (std::int64_t j = 0; j < columns; ++j) row[j] += factor * number(of_b[j]);
      } else {
        for (std::int64_t j = 0; j < columns; ++j) row[j] += factor * number(of_b[j * p.b.column]);
      }
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_problem(call.args, [&]<class T>(const Problem& p) {
    for (std::int64_t batch = 0; batch < p.batches; ++batch) {
      const auto* a = static_cast<const T*>(p.a_data) + batch * p.a.batch;
      const auto* b = static_cast<const T*>(p.b_data) + batch * p.b.batch;
      for (std::int64_t j = 0; j < p.n; j += kColumns) {
        const std::int64_t columns = std::min(kColumns, p.n - j);
        for (std::int64_t i = 0; i < p.m; i += kRows) {
          const std::int64_t rows = std::min(kRows, p.m - i);
          Sums<T> sums{};
          for (std::int64_t l = 0; l < p.k; l += kDepth) {
            add_block(p, a + i * p.a.row + l * p.a.column, b + l * p.b.row + j * p.b.column, rows, columns,
                      std::min(kDepth, p.k - l), sums);
          }
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < columns; ++c)
              give<T>(p, call.args.out.dtype, batch, i + r, j + c,
                      sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
          }
        }
      }
    }
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
