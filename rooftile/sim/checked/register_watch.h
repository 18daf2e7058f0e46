// What a thread did with the registers that wgmma takes: local memory, for a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rooftile/sim/checked/raw_findings.h"

namespace rooftile::simt::checked {

class RegisterWatch {
 public:
  static constexpr std::uintptr_t kWordBytes = 4;
  struct Taken {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::uint64_t group = 0;  // its number
    bool is_sum = false;      // else a fragment of a, which wgmma only reads
    const Place* by = nullptr;
  };

  // Accesses since the last fence; before the first one none are kept.
  void fence() {
    has_fenced_ = true;
    touched_.clear();
  }
  [[nodiscard]] bool has_fenced() const { return has_fenced_; }
  void touch(std::uintptr_t address, unsigned bytes, const void* pc) {
    if (!has_fenced_) return;
    for (std::uintptr_t word = address / kWordBytes; word * kWordBytes < address + bytes; ++word)
      touched_[word] = pc;
  }
  // Where one of these bytes was touched since the last fence; null: nowhere.
  [[nodiscard]] const void* touched_at(std::uintptr_t begin, std::size_t bytes) const {
    if (touched_.empty()) return nullptr;
    for (std::uintptr_t word = begin / kWordBytes; word * kWordBytes < begin + bytes; ++word) {
      if (const auto found = touched_.find(word); found != touched_.end()) return found->second;
    }
    return nullptr;
  }

  void take(const Taken& taken) {
    if (taken.bytes > 0) taken_.push_back(taken);
  }
  // The first `groups` groups have ended.
  void give_back(std::uint64_t groups) {
    std::erase_if(taken_, [&](const Taken& taken) { return taken.group < groups; });
  }
  // A wgmma under way that must not be disturbed so; null: none.
  [[nodiscard]] const Taken* disturbed(std::uintptr_t address, unsigned bytes, bool writes) const {
    for (const Taken& taken : taken_) {
      const bool overlaps = address < taken.begin + taken.bytes && taken.begin < address + bytes;
      if (overlaps && (taken.is_sum || writes)) return &taken;
    }
    return nullptr;
  }

 private:
  bool has_fenced_ = false;
  std::unordered_map<std::uintptr_t, const void*> touched_;  // words
  std::vector<Taken> taken_;
};

}  // namespace rooftile::simt::checked
