#include "rooftile/sim/setmaxnreg.h"

#include "rooftile/sim/block.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

std::string name_of(const RegisterCount& count) {
  return std::string(count.increases ? "setmaxnreg_inc<" : "setmaxnreg_dec<") +
         std::to_string(count.registers) + ">";
}

class CountStep final : public MatrixStep {
 public:
  CountStep(const RegisterCount& count, std::source_location where) : MatrixStep(where), count_(count) {}
  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    return count_ == static_cast<const CountStep&>(other).count_;
  }
  void run(MatrixStep* const*) override {
    std::string wrong = current_runner->register_counts().set(current_thread->warp, count_, where());
    if (wrong.empty()) return;
    report_failure(name_of(count_) + ": " + wrong, where());
    std::string().swap(wrong);  // nothing on an abandoned stack is destroyed
    abandon_thread();
  }

 private:
  const RegisterCount count_;
};

}  // namespace

std::string RegisterCounts::set(unsigned warp, const RegisterCount& count, std::source_location where) {
  if (std::string wrong = missing_warpgroup(warp); !wrong.empty()) return wrong;
  std::vector<Call>& calls = calls_[warp / kGroupWarps];
  const std::size_t number = made_[warp]++;
  if (number == calls.size()) {
    if (!calls.empty()) {
      const int before = calls.back().count.registers;
      if (count.increases ? count.registers <= before : count.registers >= before) {
        return "the warpgroup has " + std::to_string(before) + " registers already";
      }
    }
    calls.push_back({count, where});
  }
  const Call& common = calls[number];
  if (common.count == count && is_same_place(common.where, where)) return {};
  return "warp " + std::to_string(warp) + " calls it where its warpgroup calls " + name_of(common.count) +
         " at " + describe(common.where) + ": all four warps must make the same calls in the same order";
}

std::string RegisterCounts::finish() const {
  for (unsigned warp = 0; warp < made_.size(); ++warp) {
    const std::vector<Call>& calls = calls_[warp / kGroupWarps];
    if (made_[warp] == calls.size()) continue;
    const Call& missed = calls[made_[warp]];
    return "warp " + std::to_string(warp) + " has not called " + name_of(missed.count) + " at " +
           describe(missed.where) + ", as others of its warpgroup have";
  }
  return {};
}

void RegisterCounts::clear() {
  for (std::vector<Call>& calls : calls_) calls.clear();
  made_ = {};
}

void setmaxnreg(const RegisterCount& count, std::source_location where) {
  CountStep step(count, where);
  warp_collective(WarpOp::setmaxnreg, 0xffffffffu,
                  reinterpret_cast<std::uint64_t>(static_cast<MatrixStep*>(&step)), 0, where);
}

}  // namespace rooftile::simt::detail
