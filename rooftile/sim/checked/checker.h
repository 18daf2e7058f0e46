// Watches the blocks of one OS thread: classifies every access of its kernels, judges it, and counts it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/sim/block.h"
#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/session_state.h"
#include "rooftile/sim/checked/shared_shadow.h"
#include "rooftile/sim/checked/shared_variables.h"
#include "rooftile/sim/checked/site_counts.h"
#include "rooftile/sim/grid.h"

namespace rooftile::simt::checked {

struct Access {
  std::uintptr_t address;
  unsigned bytes;
  AccessKind kind;
  bool atomic;  // a load or a store may be, too
  const void* pc;
  const void* frame;  // of the hook
};

class Checker final : public detail::BlockWatcher {
 public:
  Checker(SessionState& session, detail::BlockRunner& runner);

  void bind(const detail::GridRun& grid);
  void unbind();

  void block_started(std::uint64_t linear_block) override;
  void barrier_passed(std::source_location where) override;
  void collective_passed(unsigned warp, detail::WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                         const std::uint8_t* source_lanes, std::source_location where) override;
  void thread_exited(const detail::ThreadRecord& thread) override;
  void grid_passed() override;
  void mbarrier_arrived(const void* mbarrier) override;
  void mbarrier_passed(const void* mbarrier) override;
  void copy_issued(const void* target, std::size_t bytes, std::source_location where) override;
  void copy_landed(const void* target, std::size_t bytes) override;
  std::uint32_t release_held(unsigned warp) override;
  bool is_disabled(std::source_location where) override;

  // The current thread's instrumented code, before it acts.
  void access(const Access& access);
  void basic_block(const void* pc, const void* frame);
  enum class Order { relaxed, acquire, release, both };
  // Around an atomic operation: what it releases is there before its value is, what it acquires after it.
  void before_atomic(std::uintptr_t address, Order order, bool writes, const void* pc);
  void after_atomic(std::uintptr_t address, Order order, const void* pc);
  void fence(const void* pc);
  void index_out_of_bounds(const char* file, unsigned line, const std::string& what);

  // Whether this is shared memory of the OS thread's block; blocks of a cluster reach each other's.
  [[nodiscard]] bool owns_shared(std::uintptr_t address) const;

  [[nodiscard]] const SiteCounts& sites() const { return sites_; }
  [[nodiscard]] const RawSyncs& syncs() const { return syncs_; }
  [[nodiscard]] const RawFindings& findings() const { return findings_; }
  [[nodiscard]] std::uint64_t basic_blocks() const { return basic_blocks_; }
  [[nodiscard]] std::uint64_t basic_block_lanes() const { return basic_block_lanes_; }
  [[nodiscard]] std::uint64_t accesses() const { return accesses_; }

 private:
  static constexpr unsigned kLanesOfWarp = detail::kWarpLanes;
  // What a thread that is held wants to do.
  struct Held {
    const void* pc = nullptr;
    std::size_t depth = 0;  // of its stack
    std::uintptr_t address = 0;
    unsigned bytes = 0;
    AccessKind kind = AccessKind::load;
    MemorySpace space = MemorySpace::global;
    bool is_access = false;  // else it enters a basic block
  };

  void access_shared_variable(std::size_t offset, const Access& access);
  void access_dynamic_shared(std::size_t offset, const Access& access);
  void access_global(const Access& access);
  void check_shared(std::size_t shadow_offset, const Access& access, std::string_view name,
                    std::size_t name_offset);
  void check_global(KnownBuffer& buffer, const Access& access);
  [[nodiscard]] Order order_at(Order order, const void* pc);
  void hold(const Held& held, const void* frame);
  void hold_at(const Access& access, MemorySpace space, std::uintptr_t address);
  // `text` is asked for the first time alone.
  template <class Text>
  void find(FindingKind kind, const Place& at, const Place& other, Text&& text);
  // "block (0,0,0), thread (3,0,0) reads "
  [[nodiscard]] std::string who(AccessKind kind) const;
  [[nodiscard]] std::string thread_name(unsigned linear) const;
  [[nodiscard]] std::string block_name() const;

  SessionState& session_;
  detail::BlockRunner& runner_;
  const detail::GridRun* grid_ = nullptr;
  const bool metrics_;
  const bool checks_;
  unsigned threads_ = 0;

  // Shared memory: the dynamic part, then the OS thread's block of thread-local variables.
  const SharedVariables& variables_;
  std::uintptr_t variables_at_ = 0;
  std::uintptr_t dynamic_at_ = 0;
  SharedShadow shadow_;
  LaneClocks clocks_;
  GridClocks grid_clocks_;
  std::uint32_t epoch_ = 0;
  std::uint32_t block_ = 0;

  std::array<std::uint32_t, detail::kMaxWarps> live_{};
  std::array<std::uint32_t, detail::kMaxWarps> started_{};  // lanes that the warp has at all
  std::array<std::uint32_t, detail::kMaxWarps> held_lanes_{};
  std::array<Held, kMaxBlockThreads> held_;

  SiteCounts sites_;
  RawSyncs syncs_;
  RawFindings findings_;
  std::uint64_t basic_blocks_ = 0;
  std::uint64_t basic_block_lanes_ = 0;
  std::uint64_t accesses_ = 0;
};

template <class Text>
void Checker::find(FindingKind kind, const Place& at, const Place& other, Text&& text) {
  RawFinding& finding = findings_[{kind, at, other}];
  if (finding.count++ > 0) return;
  finding.what = text();
  finding.kernel = grid_->kernel.kernel;
}

// Of the calling OS thread, while it runs blocks of a watched launch; else null.
extern constinit thread_local Checker* current_checker;

}  // namespace rooftile::simt::checked
