#include "rooftile/sim/mbarrier.h"

#include "rooftile/sim/grid.h"

namespace rooftile::simt::detail {
namespace {

// 20 bits of arrivals, 21 of signed bytes, the phase, and a mark that neither poison nor zeros carry.
struct State {
  std::uint32_t phase;
  std::uint32_t arrivals;  // of every phase
  std::uint32_t pending;   // of this one
  std::int32_t bytes;      // outstanding; negative when copies landed before they were expected
  bool valid;
};

constexpr std::uint64_t kMark = std::uint64_t{2} << 62;
constexpr std::uint64_t kMarkMask = std::uint64_t{3} << 62;
constexpr std::int32_t kByteBias = 1 << 20;

State unpack(std::uint64_t bits) {
  return {static_cast<std::uint32_t>(bits & 1), static_cast<std::uint32_t>(bits >> 1 & kMaxMbarrierCount),
          static_cast<std::uint32_t>(bits >> 21 & kMaxMbarrierCount),
          static_cast<std::int32_t>(bits >> 41 & 0x1fffff) - kByteBias, (bits & kMarkMask) == kMark};
}

std::uint64_t pack(const State& state) {
  return kMark | state.phase | std::uint64_t{state.arrivals} << 1 | std::uint64_t{state.pending} << 21 |
         static_cast<std::uint64_t>(state.bytes + kByteBias) << 41;
}

constexpr const char* kNotInitialised =
    "the memory holds no initialised mbarrier (mbarrier_init, then a barrier of all who use it)";

// Expects, lands, arrives and leaves; returns what is wrong, or nothing.
std::string advance(State& state, std::uint32_t count, std::uint32_t leave, std::int64_t bytes) {
  if (!state.valid) return kNotInitialised;
  if (count > state.pending) {
    return std::to_string(count) + " arrivals, while the phase of this mbarrier waits for " +
           std::to_string(state.pending) + " of " + std::to_string(state.arrivals);
  }
  const std::int64_t outstanding = state.bytes + bytes;
  if (outstanding >= kByteBias || outstanding <= -kByteBias) {
    return "the mbarrier would count " + std::to_string(outstanding) + " bytes: it holds at most 2^20 - 1";
  }
  state.pending -= count;
  state.arrivals -= leave;
  state.bytes = static_cast<std::int32_t>(outstanding);
  if (state.pending > 0) return {};
  if (state.bytes < 0) {
    return std::to_string(-outstanding) +
           " bytes more have landed at the mbarrier than its phase expected: "
           "expect_tx must name the bytes of all copies of the phase";
  }
  if (state.bytes == 0) {
    state.phase ^= 1;
    state.pending = state.arrivals;
  }
  return {};
}

std::string change(std::uint64_t* bits, std::uint32_t count, std::uint32_t leave, std::int64_t bytes,
                   bool& completed) {
  if (reinterpret_cast<std::uintptr_t>(bits) % 8 != 0) return "the mbarrier is not aligned to 8 bytes";
  std::uint64_t before = __atomic_load_n(bits, __ATOMIC_ACQUIRE);
  std::uint64_t after = 0;
  do {
    State state = unpack(before);
    if (std::string wrong = advance(state, count, leave, bytes); !wrong.empty()) return wrong;
    after = pack(state);
  } while (!__atomic_compare_exchange_n(bits, &before, after, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  completed = unpack(before).phase != unpack(after).phase;
  note_progress();
  return {};
}

std::string update(std::uint64_t* bits, std::uint32_t count, std::uint32_t leave, std::int64_t bytes) {
  BlockWatcher* watcher = block_watcher();
  bool completed = false;
  if (watcher != nullptr) watcher->mbarrier_changes(bits, count > 0);
  std::string wrong = change(bits, count, leave, bytes, completed);
  if (watcher != nullptr) watcher->mbarrier_changed(bits, completed);
  return wrong;
}

void arrive(std::uint64_t* bits, std::uint32_t count, std::uint32_t leave, std::uint32_t bytes,
            std::source_location where) {
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->mbarrier_used(bits, where);
  std::string wrong = update(bits, count, leave, bytes);
  if (wrong.empty()) return;
  report_failure("an mbarrier's arrive or expect_tx: " + wrong, where);
  std::string().swap(wrong);  // nothing on an abandoned stack is destroyed
  abandon_thread();
}

bool has_completed(const std::uint64_t* bits, std::uint32_t parity, std::source_location where) {
  const State state = unpack(__atomic_load_n(bits, __ATOMIC_ACQUIRE));
  if (!state.valid || parity > 1) {
    report_failure(!state.valid
                       ? std::string("an mbarrier wait: ") + kNotInitialised
                       : "an mbarrier wait: the parity must be 0 or 1, not " + std::to_string(parity),
                   where);
    abandon_thread();
  }
  if (state.phase == parity) return false;
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->mbarrier_passed(bits, where);
  return true;
}

}  // namespace

void mbarrier_init(std::uint64_t* bits, std::uint32_t arrivals, std::source_location where) {
  if (arrivals == 0 || arrivals > kMaxMbarrierCount || reinterpret_cast<std::uintptr_t>(bits) % 8 != 0) {
    report_failure(reinterpret_cast<std::uintptr_t>(bits) % 8 != 0
                       ? "mbarrier_init: the mbarrier is not aligned to 8 bytes"
                       : "mbarrier_init: 1 to 2^20 - 1 arrivals, not " + std::to_string(arrivals),
                   where);
    abandon_thread();
  }
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->mbarrier_initialised(bits, where);
  __atomic_store_n(bits, pack({0, arrivals, arrivals, 0, true}), __ATOMIC_RELEASE);
  note_progress();
}

void fence_mbarrier_init() { current_thread->mbarriers_fenced = true; }

void mbarrier_inval(std::uint64_t* bits, std::source_location where) {
  if (!unpack(__atomic_load_n(bits, __ATOMIC_ACQUIRE)).valid) {
    report_failure(std::string("mbarrier_inval: ") + kNotInitialised, where);
    abandon_thread();
  }
  // A write like the first one: who still uses the mbarrier races with it.
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->mbarrier_initialised(bits, where);
  __atomic_store_n(bits, ~std::uint64_t{0}, __ATOMIC_RELEASE);
}

void mbarrier_arrive(std::uint64_t* bits, std::uint32_t count, std::uint32_t bytes,
                     std::source_location where) {
  arrive(bits, count, 0, bytes, where);
}

void mbarrier_arrive_drop(std::uint64_t* bits, std::source_location where) { arrive(bits, 1, 1, 0, where); }

std::uint32_t mbarrier_parity(const std::uint64_t* bits, std::source_location where) {
  const State state = unpack(__atomic_load_n(bits, __ATOMIC_ACQUIRE));
  if (!state.valid) {
    report_failure(std::string("an mbarrier's arrive: ") + kNotInitialised, where);
    abandon_thread();
  }
  return state.phase;
}

std::string mbarrier_complete_tx(std::uint64_t* bits, std::uint32_t bytes) {
  return update(bits, 0, 0, -std::int64_t{bytes});
}

bool mbarrier_try_wait(const std::uint64_t* bits, std::uint32_t parity, std::source_location where) {
  if (is_disabled(where) || has_completed(bits, parity, where)) return true;
  current_thread->waits_on = bits;
  poll("mbarrier_try_wait", where);
  current_thread->waits_on = nullptr;
  return has_completed(bits, parity, where);
}

void mbarrier_wait(const std::uint64_t* bits, std::uint32_t parity, std::source_location where) {
  if (is_disabled(where)) return;
  while (!has_completed(bits, parity, where)) {
    current_thread->waits_on = bits;
    poll("mbarrier_wait", where);
    current_thread->waits_on = nullptr;
  }
}

std::string describe_mbarrier(const std::uint64_t* bits) {
  const State state = unpack(__atomic_load_n(bits, __ATOMIC_ACQUIRE));
  if (!state.valid) return "no longer valid";
  return "phase " + std::to_string(state.phase) + ": " + std::to_string(state.pending) + " of " +
         std::to_string(state.arrivals) + " arrivals and " + std::to_string(state.bytes) +
         " bytes are outstanding";
}

}  // namespace rooftile::simt::detail
