// Watches the blocks of one OS thread: classifies every access of its kernels, judges it, and counts it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rooftile/sim/block.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/session_state.h"
#include "rooftile/sim/checked/shared_shadow.h"
#include "rooftile/sim/checked/shared_variables.h"
#include "rooftile/sim/checked/site_counts.h"

namespace rooftile::simt::checked {

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
  std::uint32_t release_held(unsigned warp) override;
  bool is_disabled(std::source_location where) override;

  // The current thread's instrumented code, before it acts. `frame`: of the hook.
  void access(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc, const void* frame);
  void basic_block(const void* pc, const void* frame);
  enum class Order { relaxed, acquire, release, both };
  void atomic_order(std::uintptr_t address, Order order, bool reads, bool writes, const void* pc);
  void fence(const void* pc);
  void index_out_of_bounds(const char* file, unsigned line, const std::string& what);

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

  void check_shared(std::size_t shadow_offset, unsigned bytes, AccessKind kind, const void* pc,
                    const std::string& name, std::size_t name_offset);
  void access_shared_variable(std::size_t offset, unsigned bytes, AccessKind kind, const void* pc,
                              const void* frame);
  void access_dynamic_shared(std::size_t offset, unsigned bytes, AccessKind kind, const void* pc,
                             const void* frame);
  void access_global(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc,
                     const void* frame);
  void hold(const Held& held, const void* frame);
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

// Of the calling OS thread, while it runs blocks of a watched launch; else null.
extern constinit thread_local Checker* current_checker;

}  // namespace rooftile::simt::checked
