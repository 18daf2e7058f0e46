// cuda::pipeline. That of a thread is the thread's groups of cp.async; one of a block is a ring of stages with
// two barriers each: one that its producers' copies have arrived, one that its consumers are done with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "rooftile/sim/atomics.h"
#include "rooftile/sim/libcu/barrier.h"
#include "rooftile/sim/libcu/memcpy_async.h"
#include "rooftile/sim/libcu/scope.h"

namespace rooftile::simt::libcu {

enum class pipeline_role { producer, consumer };

#define ROOFTILE_LIBCU_CALLER std::source_location where = std::source_location::current()
#define ROOFTILE_LIBCU_INLINE __attribute__((always_inline)) inline

namespace pipeline_detail {
struct Stage {
  barrier<thread_scope_block> produced;
  barrier<thread_scope_block> consumed;
};
}  // namespace pipeline_detail

template <thread_scope kScope, std::uint8_t kStages>
class pipeline_shared_state {
  static_assert(kScope == thread_scope_block, "pipelines are of a thread or of a block");
  static_assert(kStages >= 1);

 public:
  pipeline_shared_state() = default;  // and nothing: in shared memory no constructor runs
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

  pipeline_detail::Stage stages[kStages];
  unsigned producers;  // while it is made
  unsigned threads;    // that have not quit
};

template <thread_scope kScope>
class pipeline {
 public:
  pipeline(pipeline_detail::Stage* stages, unsigned count, unsigned* threads)
      : stages_(stages), count_(count), threads_(threads) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  pipeline(pipeline&&) = default;

  // Waits until the stage is free again: in the first round it is.
  ROOFTILE_LIBCU_INLINE void producer_acquire(ROOFTILE_LIBCU_CALLER) {
    stages_[head_].consumed.wait_parity(!head_parity_, where);
  }
  ROOFTILE_LIBCU_INLINE void producer_commit(ROOFTILE_LIBCU_CALLER) {
    static_cast<void>(stages_[head_].produced.arrive(1, where));
    advance(head_, head_parity_);
  }
  ROOFTILE_LIBCU_INLINE void consumer_wait(ROOFTILE_LIBCU_CALLER) {
    stages_[tail_].produced.wait_parity(tail_parity_, where);
  }
  template <class Rep, class Period>
  bool consumer_wait_for(const std::chrono::duration<Rep, Period>& patience, ROOFTILE_LIBCU_CALLER) {
    return stages_[tail_].produced.try_wait_parity_for(tail_parity_, patience, where);
  }
  ROOFTILE_LIBCU_INLINE void consumer_release(ROOFTILE_LIBCU_CALLER) {
    static_cast<void>(stages_[tail_].consumed.arrive(1, where));
    advance(tail_, tail_parity_);
  }
  // Whether the memory of the pipeline is free: all its threads have quit.
  bool quit() { return atomicSub(threads_, 1u) == 1; }

  // For copies: where the stage that is being filled completes.
  [[nodiscard]] std::uint64_t* native_handle() { return stages_[head_].produced.native_handle(); }

 private:
  void advance(unsigned& stage, bool& parity) const {
    if (++stage < count_) return;
    stage = 0;
    parity = !parity;
  }

  pipeline_detail::Stage* stages_;
  unsigned count_;
  unsigned* threads_;
  unsigned head_ = 0;
  unsigned tail_ = 0;
  bool head_parity_ = false;
  bool tail_parity_ = false;
};

template <>
class pipeline<thread_scope_thread> {
 public:
  pipeline() = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  pipeline(pipeline&&) = default;

  void producer_acquire() {}
  void producer_commit() {
    detail::commit_async_copies();
    ++committed_;
  }
  // For the oldest stage that has not been waited for.
  void consumer_wait(ROOFTILE_LIBCU_CALLER) {
    if (committed_ == waited_) return;
    ++waited_;
    detail::wait_async_copies(committed_ - waited_, where);
  }
  template <class Rep, class Period>
  bool consumer_wait_for(const std::chrono::duration<Rep, Period>&, ROOFTILE_LIBCU_CALLER) {
    consumer_wait(where);
    return true;
  }
  void consumer_release() {}
  bool quit() { return true; }

  // For all stages but the newest `kept`.
  void wait_prior(int kept, std::source_location where) {
    detail::wait_async_copies(kept, where);
    waited_ = committed_ > kept ? committed_ - kept : waited_;
  }
  [[nodiscard]] static std::uint64_t* native_handle() { return nullptr; }

 private:
  int committed_ = 0;
  int waited_ = 0;
};

template <std::uint8_t kPending>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& of, ROOFTILE_LIBCU_CALLER) {
  of.wait_prior(kPending, where);
}

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace pipeline_detail {

template <class Group, thread_scope kScope, std::uint8_t kStages>
ROOFTILE_LIBCU_INLINE pipeline<kScope> make(const Group& group, pipeline_shared_state<kScope, kStages>* state,
                                            std::ptrdiff_t producers, std::ptrdiff_t consumers,
                                            std::source_location where) {
  if (group.thread_rank() == 0) {
    for (Stage& stage : state->stages) {
      init(&stage.produced, producers, where);
      init(&stage.consumed, consumers, where);
    }
    state->threads = static_cast<unsigned>(group.size());
  }
  group.sync(where);  // the barriers are initialised
  return pipeline<kScope>(state->stages, kStages, &state->threads);
}

}  // namespace pipeline_detail

// By all threads of the group. Every one of them produces and consumes,
template <class Group, thread_scope kScope, std::uint8_t kStages>
ROOFTILE_LIBCU_INLINE pipeline<kScope> make_pipeline(const Group& group,
                                                     pipeline_shared_state<kScope, kStages>* state,
                                                     ROOFTILE_LIBCU_CALLER) {
  const auto threads = static_cast<std::ptrdiff_t>(group.size());
  return pipeline_detail::make(group, state, threads, threads, where);
}
// or the first so many produce and the rest consume,
template <class Group, thread_scope kScope, std::uint8_t kStages>
ROOFTILE_LIBCU_INLINE pipeline<kScope> make_pipeline(const Group& group,
                                                     pipeline_shared_state<kScope, kStages>* state,
                                                     std::size_t producers, ROOFTILE_LIBCU_CALLER) {
  const auto first = static_cast<std::ptrdiff_t>(producers);
  return pipeline_detail::make(group, state, first, static_cast<std::ptrdiff_t>(group.size()) - first, where);
}
// or each does as it says.
template <class Group, thread_scope kScope, std::uint8_t kStages>
ROOFTILE_LIBCU_INLINE pipeline<kScope> make_pipeline(const Group& group,
                                                     pipeline_shared_state<kScope, kStages>* state,
                                                     pipeline_role role, ROOFTILE_LIBCU_CALLER) {
  if (group.thread_rank() == 0) state->producers = 0;
  group.sync(where);  // the count is zero
  if (role == pipeline_role::producer) atomicAdd(&state->producers, 1u, where);
  group.sync(where);  // all have counted
  const auto producers = static_cast<std::ptrdiff_t>(state->producers);
  return pipeline_detail::make(group, state, producers, static_cast<std::ptrdiff_t>(group.size()) - producers,
                               where);
}

// The thread's copy, or its share of the group's, into the stage that is being filled.
template <class Group, class T, class Bytes, thread_scope kScope>
requires requires(const Group& group) { group.thread_rank(); }
ROOFTILE_LIBCU_INLINE async_contract_fulfillment memcpy_async(const Group& group, T* target, const T* source,
                                                              Bytes bytes, pipeline<kScope>& stages,
                                                              ROOFTILE_LIBCU_CALLER) {
  return copy_detail::copy(target, source, bytes, group.thread_rank(), group.size(), stages.native_handle(),
                           true, where);
}
template <class T, class Bytes, thread_scope kScope>
ROOFTILE_LIBCU_INLINE async_contract_fulfillment memcpy_async(T* target, const T* source, Bytes bytes,
                                                              pipeline<kScope>& stages,
                                                              ROOFTILE_LIBCU_CALLER) {
  return copy_detail::copy(target, source, bytes, 0, 1, stages.native_handle(), true, where);
}

#undef ROOFTILE_LIBCU_INLINE
#undef ROOFTILE_LIBCU_CALLER

}  // namespace rooftile::simt::libcu
