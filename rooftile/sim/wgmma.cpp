#include "rooftile/sim/wgmma.h"

#include <algorithm>
#include <cstring>

#include "rooftile/core/dtype.h"
#include "rooftile/sim/block.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

constexpr unsigned kLanes = 32;

float widened(MatrixElement element, std::uint16_t bits) {
  return element == MatrixElement::float16 ? to_float(Float16{bits}) : to_float(BFloat16{bits});
}

// For each element of rows [0, rows): body(row, k, value), from shared memory as it is now.
template <class Body>
void for_each_element(MatrixElement element, const MatrixOperand& operand, unsigned rows, Body&& body) {
  for (const CoreRow& core : core_rows(operand, 0, rows)) {
    std::array<std::uint16_t, kCoreRowBytes / 2> bits;
    std::memcpy(bits.data(), core.address, sizeof(bits));
    for (unsigned i = 0; i < bits.size(); ++i) {
      const unsigned row = operand.mn_major ? core.row + i : core.row;
      const unsigned k = operand.mn_major ? core.k : core.k + i;
      body(row, k, widened(element, bits[i]));
    }
  }
}

void fail(const std::string& what, std::source_location where) { report_failure("wgmma: " + what, where); }

class WgmmaStep : public MatrixStep {
 public:
  using MatrixStep::MatrixStep;
  void arrive(WarpOp op) {
    warp_collective(op, 0xffffffffu, reinterpret_cast<std::uint64_t>(static_cast<MatrixStep*>(this)), 0,
                    where());
  }

 protected:
  // Ends the launch where something is wrong.
  void expect_right(std::string wrong) const {
    if (wrong.empty()) return;
    fail(wrong, where());
    std::string().swap(wrong);  // nothing on an abandoned stack is destroyed
    abandon_thread();
  }
};

class ProductStep final : public WgmmaStep {
 public:
  ProductStep(const WarpgroupProduct& product, float* sums, const std::uint32_t* a,
              std::source_location where)
      : WgmmaStep(where), product_(product), sums_(sums) {
    if (a != nullptr) std::copy_n(a, a_.size(), a_.begin());
  }
  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    return product_ == static_cast<const ProductStep&>(other).product_;
  }
  void run(MatrixStep* const* lanes) override {
    WarpPart part;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto& step = *static_cast<const ProductStep*>(lanes[lane]);
      part.sums[lane] = step.sums_;
      part.a[lane] = step.a_;
    }
    const unsigned warp = current_thread->warp;
    expect_right(current_runner->wgmma().issue(warp, product_, part, where()));
    check_operand("wgmma's b", product_.b, product_.columns, where());
    if (!product_.a_in_registers) check_operand("wgmma's a", product_.a, kGroupRows, where());
    if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) tell(*watcher, warp % kGroupWarps);
  }

 private:
  void tell(BlockWatcher& watcher, unsigned warp_of_group) const {
    const auto add = [](std::vector<const void*>& rows, const MatrixOperand& operand, unsigned first,
                        unsigned count) {
      for (const CoreRow& row : core_rows(operand, first, count)) rows.push_back(row.address);
    };
    std::vector<const void*> rows;
    std::vector<const void*> counted;
    if (!product_.a_in_registers) add(rows, product_.a, kWarpRows * warp_of_group, kWarpRows);
    add(rows, product_.b, 0, product_.columns);
    if (warp_of_group == 0) {
      if (!product_.a_in_registers) add(counted, product_.a, 0, kGroupRows);
      add(counted, product_.b, 0, product_.columns);
    }
    watcher.wgmma_issued({where(), rows, counted});
  }

  const WarpgroupProduct& product_;
  float* const sums_;
  std::array<std::uint32_t, 4> a_{};
};

class FenceStep final : public WgmmaStep {
 public:
  using WgmmaStep::WgmmaStep;
  [[nodiscard]] bool agrees(const MatrixStep&) const override { return true; }
  void run(MatrixStep* const*) override {}
};

class CommitStep final : public WgmmaStep {
 public:
  using WgmmaStep::WgmmaStep;
  [[nodiscard]] bool agrees(const MatrixStep&) const override { return true; }
  void run(MatrixStep* const*) override {
    expect_right(current_runner->wgmma().commit(current_thread->warp));
    if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->wgmma_committed();
  }
};

class WaitStep final : public WgmmaStep {
 public:
  WaitStep(unsigned pending, std::source_location where) : WgmmaStep(where), pending_(pending) {}
  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    return pending_ == static_cast<const WaitStep&>(other).pending_;
  }
  void run(MatrixStep* const*) override {}

 private:
  const unsigned pending_;
};

}  // namespace

std::string WgmmaQueue::issue(unsigned warp, const WarpgroupProduct& product, const WarpPart& part,
                              std::source_location where) {
  used_ = true;
  if (std::string wrong = missing_warpgroup(warp); !wrong.empty()) return wrong;
  Warpgroup& group = groups_[warp / kGroupWarps];
  const std::uint64_t number = warps_[warp].issued++;
  if (number == group.first + group.products.size()) group.products.push_back({product, where, {}, nullptr});
  Product& common = group.products[number - group.first];
  if (!is_same_place(common.where, where) || !(common.product == product)) {
    return "warp " + std::to_string(warp) + " multiplies otherwise than its warpgroup does at " +
           describe(common.where) + ": all four warps must make the same calls in the same order";
  }
  common.parts[warp % kGroupWarps] = part;
  return {};
}

std::string WgmmaQueue::commit(unsigned warp) {
  used_ = true;
  Warpgroup& group = groups_[warp / kGroupWarps];
  const std::uint64_t number = warps_[warp].committed++;
  if (number == group.ends.size()) group.ends.push_back(warps_[warp].issued);
  if (group.ends[number] == warps_[warp].issued) return {};
  return "warp " + std::to_string(warp) +
         " commits another number of products than its warpgroup does: all four " +
         "warps must make the same calls in the same order";
}

bool WgmmaQueue::complete(unsigned warp, std::uint64_t groups) {
  if (groups == 0) return true;
  const unsigned first = warp / kGroupWarps * kGroupWarps;
  for (unsigned other = first; other < first + kGroupWarps; ++other) {
    if (warps_[other].committed < groups) return false;
  }
  Warpgroup& group = groups_[warp / kGroupWarps];
  const std::uint64_t end = group.ends[groups - 1];
  for (std::uint64_t& done = warps_[warp].done; done < end; ++done) {
    Product& product = group.products[done - group.first];
    if (product.operands == nullptr) read_operands(product);
    add(product, warp % kGroupWarps);
  }
  const auto all_have_done = [&](std::uint64_t number) {
    return std::all_of(warps_.begin() + first, warps_.begin() + first + kGroupWarps,
                       [&](const OfWarp& of) { return of.done > number; });
  };
  for (; !group.products.empty() && all_have_done(group.first); ++group.first) group.products.pop_front();
  return true;
}

void WgmmaQueue::read_operands(Product& of) {
  of.operands = std::make_unique<Operands>();
  const WarpgroupProduct& product = of.product;
  for_each_element(product.element, product.b, product.columns,
                   [&](unsigned column, unsigned k, float value) { of.operands->b[k][column] = value; });
  if (!product.a_in_registers) {
    for_each_element(product.element, product.a, kGroupRows,
                     [&](unsigned row, unsigned k, float value) { of.operands->a[row][k] = value; });
    return;
  }
  for (unsigned row = 0; row < kGroupRows; ++row) {
    const unsigned in_warp = row % kWarpRows;
    for (unsigned k = 0; k < kOperandDepth; ++k) {
      const auto& registers = of.parts[row / kWarpRows].a[in_warp % 8 * 4 + k % 8 / 2];
      const std::uint32_t pair = registers[in_warp / 8 + k / 8 * 2];
      of.operands->a[row][k] = widened(product.element, static_cast<std::uint16_t>(pair >> 16 * (k % 2)));
    }
  }
}

void WgmmaQueue::add(const Product& of, unsigned warp_of_group) {
  const unsigned columns = of.product.columns;
  const WarpPart& part = of.parts[warp_of_group];
  for (unsigned in_warp = 0; in_warp < kWarpRows; ++in_warp) {
    const float* const a = of.operands->a[warp_of_group * kWarpRows + in_warp];
    // Of the lane that holds this column of the row.
    const auto sum_at = [&](unsigned column) -> float& {
      return part.sums[in_warp % 8 * 4 + column % 8 / 2][column / 8 * 4 + in_warp / 8 * 2 + column % 2];
    };
    float sums[kMostColumns];
    for (unsigned column = 0; column < columns; ++column) {
      sums[column] = of.product.accumulate ? sum_at(column) : 0.0f;
    }
    for (unsigned k = 0; k < kOperandDepth; ++k) {
      for (unsigned column = 0; column < columns; ++column) sums[column] += a[k] * of.operands->b[k][column];
    }
    for (unsigned column = 0; column < columns; ++column) sum_at(column) = sums[column];
  }
}

std::string WgmmaQueue::finish() {
  if (!used_) return {};
  for (const Warpgroup& group : groups_) {
    if (group.products.empty()) continue;
    return "wgmma at " + describe(group.products.front().where) +
           ": the block returned before the product was complete: wgmma_commit, then wgmma_wait, by all four warps";
  }
  return {};
}

void WgmmaQueue::clear() {
  if (!used_) return;
  used_ = false;
  warps_ = {};
  for (Warpgroup& group : groups_) {
    group.products.clear();
    group.first = 0;
    group.ends.clear();
  }
}

void wgmma(const WarpgroupProduct& product, float* sums, const std::uint32_t* a, std::source_location where) {
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->wgmma_takes({.sums = {sums, product.columns / 2 * sizeof(float)},
                          .a = {a, a != nullptr ? 4 * sizeof(std::uint32_t) : 0}},
                         where);
  }
  ProductStep step(product, sums, a, where);
  step.arrive(WarpOp::wgmma);
}

void wgmma_fence(std::source_location where) {
  if (is_disabled(where)) return;
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->wgmma_fenced();
  FenceStep step(where);
  step.arrive(WarpOp::wgmma_fence);
}

void wgmma_commit(std::source_location where) {
  if (is_disabled(where)) return;
  CommitStep step(where);
  step.arrive(WarpOp::wgmma_commit);
}

void wgmma_wait(unsigned pending, std::source_location where) {
  if (is_disabled(where)) return;
  WaitStep step(pending, where);
  step.arrive(WarpOp::wgmma_wait);
  WgmmaQueue& queue = current_runner->wgmma();
  const unsigned warp = current_thread->warp;
  const std::uint64_t committed = queue.committed(warp);
  const std::uint64_t groups = committed > pending ? committed - pending : 0;
  while (!queue.complete(warp, groups)) poll("wgmma_wait", where);
  note_progress();
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->wgmma_waited(groups);
}

}  // namespace rooftile::simt::detail
