// Warp and block collectives over types of every size class.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if defined(__CUDACC__)
#define ROOFTILE_TEST_CALL __host__ __device__
#else
#define ROOFTILE_TEST_CALL
#endif

namespace rooftile::ROOFTILE_TARGET::block_tests {

struct Tiny {  // 3 bytes: less than a shuffle moves
  std::uint8_t v[3];
};
struct Wide {  // 24 bytes
  std::uint64_t v[3];
};
struct Affine {  // x -> a * x + b modulo 2^32: composition is associative and not commutative
  std::uint32_t a, b;
};

struct Combine {
  ROOFTILE_TEST_CALL std::uint8_t operator()(std::uint8_t l, std::uint8_t r) const {
    return static_cast<std::uint8_t>(l + r);
  }
  ROOFTILE_TEST_CALL std::uint32_t operator()(std::uint32_t l, std::uint32_t r) const { return l + r; }
  ROOFTILE_TEST_CALL std::uint64_t operator()(std::uint64_t l, std::uint64_t r) const { return l ^ r; }
  ROOFTILE_TEST_CALL Tiny operator()(const Tiny& l, const Tiny& r) const {
    return {{(*this)(l.v[0], r.v[0]), (*this)(l.v[1], r.v[1]), (*this)(l.v[2], r.v[2])}};
  }
  ROOFTILE_TEST_CALL Wide operator()(const Wide& l, const Wide& r) const {
    return {{l.v[0] + r.v[0], l.v[1] ^ r.v[1], l.v[2] > r.v[2] ? l.v[2] : r.v[2]}};
  }
  ROOFTILE_TEST_CALL Affine operator()(const Affine& l, const Affine& r) const {
    return {r.a * l.a, r.a * l.b + r.b};
  }
};

template <class T>
ROOFTILE_TEST_CALL constexpr T identity_of() {
  if constexpr (requires(T t) { t.a; }) {
    return T{1, 0};
  } else {
    return T{};
  }
}

enum class WarpCall {
  shuffle_reverse,  // lane i gets lane (lanes - 1 - i)
  shuffle_xor_1,
  shuffle_up_3,
  shuffle_down_3,  // 0xab... where there is no such lane
  reduce_full,     // all 32 lanes, the butterfly
  reduce,          // `lanes` lanes
  inclusive_scan,
  exclusive_scan,
  broadcast_last,
};

// One warp of `lanes` threads: out[i] is what lane i gets.
template <class T>
Status run_warp(StreamRef stream, WarpCall call, int lanes, const T* g_in, T* g_out);

enum class BlockCall { reduce, all_reduce, inclusive_scan, exclusive_scan, broadcast_last };

// The block sizes that are compiled: one warp, a partial last warp of one and of 8 lanes, full ones.
inline constexpr int kBlockSizes[] = {1, 20, 32, 33, 256, 1000, 1024};

// One block of `threads` threads, twice over with the same shared memory: out[i] is what thread i gets the
// second time, when the values are those of the neighbour; totals[i] the scans' total there.
template <class T>
Status run_block(StreamRef stream, BlockCall call, int threads, const T* g_in, T* g_out, T* g_totals);

// Half of a block of 64 calls block_reduce at one line, the other half at another: a fault of the kernel.
Status run_divergent_reduce(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out);

#define ROOFTILE_TEST_FOR_TYPES(X) X(std::uint8_t) X(std::uint32_t) X(std::uint64_t) X(Tiny) X(Wide) X(Affine)

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
