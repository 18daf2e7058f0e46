// Watches the blocks of one OS thread: classifies every access of its kernels, judges it, and counts it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rooftile/sim/block.h"
#include "rooftile/sim/checked/cluster_state.h"
#include "rooftile/sim/checked/contested.h"
#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/kernel_variables.h"
#include "rooftile/sim/checked/open_requests.h"
#include "rooftile/sim/checked/register_watch.h"
#include "rooftile/sim/checked/session_state.h"
#include "rooftile/sim/checked/shared_shadow.h"
#include "rooftile/sim/checked/site_counts.h"
#include "rooftile/sim/checked/store_pairs.h"
#include "rooftile/sim/grid.h"

namespace rooftile::simt::checked {

struct Access {
  std::uintptr_t address;
  unsigned bytes;
  AccessKind kind;
  bool atomic;  // a load or a store may be, too
  const void* pc;
  const void* frame;        // of the hook
  bool of_struct = false;   // copied whole, its padding included
  bool matrix_row = false;  // of ldmatrix or stmatrix
};

class Checker final : public detail::BlockWatcher {
 public:
  Checker(SessionState& session, detail::BlockRunner& runner);
  ~Checker() override;

  // `cluster`: of the launch; null where it has none.
  void bind(const detail::GridRun& grid, ClusterState* cluster);
  void unbind();
  // Of a new cluster. Returns the last stamp of the launch before.
  Stamp start_shadow() {
    shadow_.start_block();
    return last_stamp_;
  }

  void block_started(std::uint64_t linear_block) override;
  void barrier_passed(std::source_location where) override;
  void collective_passed(unsigned warp, detail::WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                         const std::uint8_t* source_lanes, std::source_location where) override;
  void accessed(detail::CopyRange range, bool writes, bool matrix_row, const void* pc,
                const void* frame) override;
  void thread_exited(const detail::ThreadRecord& thread) override;
  void grid_passed() override;
  void block_returned() override;
  void mbarrier_initialised(const std::uint64_t* mbarrier, std::source_location where) override;
  void mbarrier_used(const std::uint64_t* mbarrier, std::source_location where) override;
  void mbarrier_passed(const std::uint64_t* mbarrier, std::source_location where) override;
  void mbarrier_changes(const std::uint64_t* mbarrier, bool arrives) override;
  void mbarrier_changed(const std::uint64_t* mbarrier, bool phase_completed) override;
  void copy_issued(const detail::CopyIssue& copy, std::span<const detail::CopyRange> reads,
                   std::span<const detail::CopyRange> writes) override;
  void copy_landed(const void* target, std::size_t bytes) override;
  void copies_committed(detail::CopyGroups groups) override;
  void copies_waited(detail::CopyGroups groups, std::uint64_t pending, std::source_location where) override;
  void all_copies_waited(std::source_location where) override;
  void wgmma_takes(const detail::WgmmaRegisters& registers, std::source_location where) override;
  void wgmma_fenced() override;
  void wgmma_issued(const detail::WgmmaIssue& issue) override;
  void wgmma_committed() override;
  void wgmma_waited(std::uint64_t groups) override;
  void misaligned(const char* file, unsigned line, const std::string& what) override;
  void proxy_fenced(bool shared, bool global, std::source_location where) override;
  void cluster_arrived(std::uint32_t phase, bool relaxed) override;
  void cluster_passed(std::uint32_t phase, std::source_location where) override;
  std::string describe_code(const void* pc) override;
  std::uint32_t release_held(unsigned warp) override;
  bool is_disabled(std::source_location where) override;

  // The current thread's instrumented code, before it acts.
  void access(const Access& access);
  void note_local_access(AccessKind kind) {
    ++accesses_;
    if (kind != AccessKind::load) ++stores_;
  }
  // Whether local memory may be registers that a wgmma takes.
  [[nodiscard]] bool watches_registers() const { return watches_registers_; }
  void access_registers(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc);
  enum class Order { relaxed, acquire, release, both };
  // Around an atomic operation: what it releases is there before its value is, what it acquires after it.
  void before_atomic(std::uintptr_t address, Order order, bool writes, const void* pc);
  void after_atomic(std::uintptr_t address, Order order, const void* pc);
  void fence(const void* pc);
  void volatile_read(const void* pc);
  // The current thread enters a basic block.
  void step(const void* pc, const void* frame) {
    if (--steps_until_noted_ == 0) [[unlikely]]
      note_step(pc, frame);
  }
  void index_out_of_bounds(const char* file, unsigned line, const std::string& what);

  // Called by other OS threads: whether a store to this address is in flight, whose value is wanted.
  [[nodiscard]] bool contest(std::uintptr_t address);
  [[nodiscard]] const SiteCounts& sites() const { return sites_; }
  using CopyCounts = std::map<std::pair<Place, MemorySpace>, AccessCounts>;
  [[nodiscard]] const CopyCounts& copies() const { return copies_; }
  [[nodiscard]] const RawSyncs& syncs() const { return syncs_; }
  [[nodiscard]] const RawFindings& findings() const { return findings_; }
  [[nodiscard]] const RawFindings& remarks() const { return remarks_; }
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
    bool matrix_row = false;
    bool waits = false;  // has not gone on
    std::uint32_t serial = 0;
  };
  // What is judged: an access of the current thread, or of a copy that it issues.
  struct Touch {
    AccessKind kind;
    bool atomic;
    bool placed;  // `pc` is a Place
    const void* pc;
    unsigned id;  // the thread, or the copy's agent
    Stamp stamp;
    const char* copy = nullptr;  // its name
    bool async_proxy = false;
    std::uintptr_t address = 0;  // of a thread's access, whole
    unsigned bytes = 0;
    bool of_struct = false;
    bool initialises = false;  // an mbarrier: two are a race though they store the same
    [[nodiscard]] Place place() const { return place_of(pc, placed); }
  };
  // A place in shared memory, of this block or of another one of the cluster.
  struct SharedPlace {
    Checker* owner;
    std::size_t offset;  // in its shadow
    std::string_view name;
    std::size_t name_offset;
  };

  // Accesses (checker.cpp).
  void access_shared_variable(std::size_t offset, const Access& access);
  void access_dynamic_shared(std::size_t offset, const Access& access);
  void access_global(const Access& access);
  void access_buffer(KnownBuffer& buffer, const Access& access);
  void access_remote(const SharedPlace& place, const Access& access);
  [[nodiscard]] Touch touch_of(const Access& access) const {
    return {.kind = access.kind,
            .atomic = access.atomic,
            .placed = false,
            .pc = access.pc,
            .id = thread_id(),
            .stamp = 0,
            .address = access.address,
            .bytes = access.bytes,
            .of_struct = access.of_struct};
  }
  [[nodiscard]] bool locate_own(std::uintptr_t address, SharedPlace& place);
  [[nodiscard]] bool locate_shared(std::uintptr_t address, SharedPlace& place);  // in the cluster
  void fail_out_of_bounds(const Touch& touch, std::uintptr_t address);

  // Judgement (checker_rules.cpp).
  void check_shared(const SharedPlace& place, std::size_t bytes, const Touch& touch);
  void report_shared(const SharedPlace& place, const Touch& touch, const SharedVerdict& verdict);
  void check_remote(const SharedPlace& place, const Touch& touch);
  void check_global(KnownBuffer& buffer, std::uintptr_t address, std::size_t bytes, const Touch& touch);
  void judge_global(KnownBuffer& buffer, std::size_t offset, std::size_t bytes, const Touch& touch,
                    GlobalVerdict& verdict);
  void report_global(const KnownBuffer& buffer, std::size_t offset, const Touch& touch,
                     const GlobalVerdict& verdict);
  // A conflict: found at once, or when both stores are done.
  template <class Text>
  void judge_conflict(const Touch& touch, bool of_two_stores, const Place& other, unsigned other_thread,
                      bool other_block, Text&& text);
  template <class Text>
  void judge_contested(const Touch& touch, const FindingKey& key, Text&& text);
  [[nodiscard]] std::optional<StoreTicket> ticket_of_store(unsigned thread, const Place& place) const;
  [[nodiscard]] bool is_done(const StoreTicket& ticket) const;
  // To be called with each event on this OS thread: what was stored last is there now.
  void stores_are_done() {
    if (stores_now_ != nullptr) end_store(*std::exchange(stores_now_, nullptr));
    if (!store_pairs_.empty()) [[unlikely]]
      settle_pairs();
  }
  void settle_pairs();
  // Of the cluster, in what the executor tells: nobody who holds it may wait for a store that is done.
  [[nodiscard]] std::unique_lock<std::mutex> lock_for_event() {
    stores_are_done();
    return cluster_->lock();
  }
  // Before its judgement: who finds the store in a shadow finds it in flight, too.
  void begin_store(const Access& access) {
    if (!checks_ || access.kind != AccessKind::store || access.atomic) return;
    StoreInFlight& store = in_flight_[detail::current_thread->linear];
    store.bytes = access.bytes;
    store.contested.store(false, std::memory_order_relaxed);
    store.address.store(access.address, std::memory_order_release);
    if (!metrics_) stores_now_ = &store;
  }
  void end_store(StoreInFlight& store);
  [[nodiscard]] bool is_fenced(const ProxyFences& fences, std::uint32_t block, unsigned thread,
                               Stamp stamp) const;

  // Copies (checker_copies.cpp).
  void touch_range(const detail::CopyRange& range, const Touch& touch);
  void count_copy(const detail::CopyIssue& copy, std::span<const detail::CopyRange> ranges);
  void hold_copy(const detail::CopyIssue& copy, const detail::CopyRange& range);
  void touch_mbarrier(const std::uint64_t* mbarrier, AccessKind kind, bool atomic,
                      std::source_location where);

  // wgmma (checker_wgmma.cpp).
  [[nodiscard]] unsigned warp_id() const { return thread_id() / kLanesOfWarp * kLanesOfWarp; }
  void count_wgmma(const detail::WgmmaIssue& issue);

  // Of the current thread, in the cluster.
  [[nodiscard]] unsigned thread_id() const { return first_thread_ + detail::current_thread->linear; }
  [[nodiscard]] const Place* keep_place(std::source_location where);
  [[nodiscard]] Order order_at(Order order, const void* pc);
  void hold(const Held& held, const void* frame);
  void note_step(const void* pc, const void* frame);
  void look_for_endless_loop(const void* pc);
  void hold_at(const Access& access, MemorySpace space, std::uintptr_t address);
  void close_requests();
  void forget_block();
  [[nodiscard]] unsigned member_alignment(const void* pc);
  void count_sync(const Place& place, const char* name, std::uint64_t lanes);
  // `text` is asked for the first time alone.
  template <class Text>
  void find(FindingKind kind, const Place& at, const Place& other, Text&& text);
  // "block (0,0,0), thread (3,0,0) reads "
  [[nodiscard]] std::string who(const Touch& touch) const;
  // "thread (3,0,0) wrote", and of a copy "an asynchronous copy wrote"
  [[nodiscard]] std::string earlier(unsigned id, std::uint32_t block, bool write) const;
  [[nodiscard]] std::string thread_name(unsigned linear) const;  // in its block
  [[nodiscard]] std::string block_name() const;

  SessionState& session_;
  detail::BlockRunner& runner_;
  const detail::GridRun* grid_ = nullptr;
  const bool metrics_;
  const bool checks_;
  unsigned threads_ = 0;

  // Shared memory: the dynamic part, then the OS thread's block of thread-local variables.
  const KernelVariables& variables_;
  const AddressRange constants_ = constant_memory();
  std::uintptr_t variables_at_ = 0;
  std::uintptr_t dynamic_at_ = 0;
  SharedShadow shadow_;
  Stamp last_stamp_ = 0;
  bool is_alone_ = false;  // no other OS thread takes part in the launch
  ClusterState alone_{1};
  ClusterState* cluster_ = &alone_;
  unsigned rank_ = 0;
  unsigned first_thread_ = 0;  // in the cluster
  GridClocks grid_clocks_;
  std::uint32_t epoch_ = 0;
  std::uint32_t block_ = 0;
  std::unique_lock<std::mutex> mbarrier_lock_;

  std::array<std::uint32_t, detail::kMaxWarps> live_{};
  std::array<std::uint32_t, detail::kMaxWarps> started_{};  // lanes that the warp has at all
  std::array<std::uint32_t, detail::kMaxWarps> held_lanes_{};
  std::array<Held, kMaxBlockThreads> held_;
  bool watches_registers_ = false;        // a thread of the block has called wgmma_fence, or wgmma
  std::vector<RegisterWatch> registers_;  // by thread

  SiteCounts sites_;
  std::vector<OpenRequests> open_requests_;  // of each warp, where it counts
  CopyCounts copies_;
  RawSyncs syncs_;
  RawFindings findings_;
  RawFindings remarks_;
  StorePairs store_pairs_;
  std::array<StoreInFlight, kMaxBlockThreads> in_flight_;  // plain stores to global memory
  bool is_in_block_ = false;
  StoreInFlight* stores_now_ = nullptr;  // the one that comes before the next event
  std::set<Place> places_;               // that marks point to
  std::unordered_map<const void*, unsigned> member_alignments_;
  std::uint64_t basic_blocks_ = 0;
  std::uint64_t basic_block_lanes_ = 0;
  std::uint64_t accesses_ = 0;

  // The watchdog's view: steps and stores so far, and when something was last seen to go on.
  static constexpr std::uint32_t kStepsBetweenLooks = 0x10000;
  std::uint32_t steps_until_look_ = kStepsBetweenLooks;
  std::uint32_t steps_until_noted_;  // where it counts each one is
  std::uint64_t stores_ = 0;
  std::uint64_t seen_stores_ = 0;
  std::uint64_t seen_progress_ = 0;
  std::chrono::steady_clock::time_point stored_at_;
  std::chrono::steady_clock::time_point progressed_at_;
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
