// wgmma of the simulated SM: what device/sm90a/wgmma.h calls.
//
// The four warps of a warpgroup issue the same products, by all of their lanes. Shared memory is read when the first of
// them waits for a product's group, the latest moment that is legal for a thread that then says that it may be overwritten;
// a warp's sums change when it waits itself. A group is waited for until all four warps have committed it. Misuse ends the launch at its line: lanes or warps
// whose calls differ, warps without a whole warpgroup, operands outside of shared memory, and a block that returns before
// its products have ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "rooftile/sim/matrix_operand.h"
#include "rooftile/sim/warpgroup.h"
#include "rooftile/sim/wmma_layout.h"

namespace rooftile::simt::detail {

inline constexpr unsigned kGroupRows = 64;
inline constexpr unsigned kWarpRows = kGroupRows / kGroupWarps;
inline constexpr unsigned kMostColumns = 256;

struct WarpgroupProduct {
  MatrixElement element = MatrixElement::float16;
  unsigned columns = 0;
  bool accumulate = false;
  bool a_in_registers = false;
  MatrixOperand a;  // where it is not in registers
  MatrixOperand b;
  friend bool operator==(const WarpgroupProduct&, const WarpgroupProduct&) = default;
};

// `sums` of the current thread: columns / 2 of them; `a` its four registers, or null.
void wgmma(const WarpgroupProduct& product, float* sums, const std::uint32_t* a, std::source_location where);
void wgmma_fence(std::source_location where);
void wgmma_commit(std::source_location where);
void wgmma_wait(unsigned pending, std::source_location where);

// What a warp's lanes bring to a product.
struct WarpPart {
  std::array<float*, 32> sums;
  std::array<std::array<std::uint32_t, 4>, 32> a;
};

// The products of a block that were issued and have not happened yet.
class WgmmaQueue {
 public:
  // By a warp. Returns what is wrong, or nothing.
  [[nodiscard]] std::string issue(unsigned warp, const WarpgroupProduct& product, const WarpPart& part,
                                  std::source_location where);
  [[nodiscard]] std::string commit(unsigned warp);
  // How many groups the warp has committed so far.
  [[nodiscard]] std::uint64_t committed(unsigned warp) const { return warps_[warp].committed; }
  // The warp waits for its warpgroup's first `groups` groups: reads their operands, where no other warp has, and changes
  // the warp's sums. False where one of the warps has not committed them yet.
  [[nodiscard]] bool complete(unsigned warp, std::uint64_t groups);
  // The block has returned. Returns what is wrong, or nothing.
  [[nodiscard]] std::string finish();
  void clear();

 private:
  struct Operands {
    float a[kGroupRows][kOperandDepth];
    float b[kOperandDepth][kMostColumns];
  };
  struct Product {
    WarpgroupProduct product;
    std::source_location where;
    std::array<WarpPart, kGroupWarps> parts;
    std::unique_ptr<Operands> operands;  // once they have been read
  };
  struct OfWarp {
    std::uint64_t issued = 0;  // products
    std::uint64_t committed = 0;
    std::uint64_t done = 0;  // products whose sums it has
  };
  struct Warpgroup {
    std::deque<Product> products;     // those that a warp has issued and not every warp has done
    std::uint64_t first = 0;          // the number of the first of them
    std::vector<std::uint64_t> ends;  // of its groups: the number of products up to there
  };
  static void read_operands(Product& product);
  static void add(const Product& product, unsigned warp_of_group);

  bool used_ = false;
  std::array<OfWarp, kMostGroupedWarps> warps_{};
  std::array<Warpgroup, kMostGroupedWarps / kGroupWarps> groups_;
};

}  // namespace rooftile::simt::detail
