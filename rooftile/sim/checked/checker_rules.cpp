// What is wrong with an access: races, uninitialised reads, writes
// into inputs, missing proxy fences, uses of memory that is gone.
#include <thread>
#include <utility>

#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt::checked {

using detail::current_thread;

namespace {

const char* verb(AccessKind kind) {
  return kind == AccessKind::load ? "reads" : kind == AccessKind::store ? "writes" : "updates atomically";
}

}  // namespace

bool Checker::is_fenced(const ProxyFences& fences, std::uint32_t block, unsigned thread, Stamp stamp) const {
  const Stamp fence = fences.after({block, thread}, stamp);
  if (fence == 0) return false;
  if (cluster_->clocks.has_block(block)) return cluster_->clocks.is_ordered(thread, fence, thread_id());
  return grid_clocks_.is_ordered(block, thread, fence, current_thread->linear);
}

void Checker::check_shared(const SharedPlace& place, std::size_t bytes, const Touch& touch) {
  const auto lock = cluster_->lock();
  LaneClocks& clocks = cluster_->clocks;
  const unsigned thread = thread_id();
  Mark mark;
  mark.pc = touch.pc;
  mark.stamp = is_agent(touch.id) ? touch.stamp : clocks.stamp(thread);
  mark.thread = static_cast<std::uint16_t>(touch.id);
  mark.atomic = touch.atomic;
  mark.write = touch.kind != AccessKind::load;
  mark.placed = touch.placed;
  const bool reads = touch.kind != AccessKind::store;
  SharedVerdict verdict;
  if (touch.async_proxy) {
    // Neighbouring words mostly have one writer.
    const IsFenced fenced = [&, seen = Mark{}, result = false](const Mark& write) mutable {
      if (seen.bytes != 0 && seen.thread == write.thread && seen.stamp == write.stamp) return result;
      seen = write;
      const unsigned rank = clocks.rank_of(write.thread);
      result = is_fenced(cluster_->shared_fences, clocks.block_number(rank), write.thread, write.stamp);
      return result;
    };
    verdict = place.owner->shadow_.access(place.offset, bytes, mark, reads, thread, clocks, &fenced);
  } else {
    verdict = place.owner->shadow_.access(place.offset, bytes, mark, reads, thread, clocks);
  }
  if (place.owner != this) check_remote(place, touch);
  if (touch.of_struct) verdict.unwritten.drop_padding(touch.address, touch.bytes);
  if (verdict.unwritten.any() || verdict.conflict.bytes != 0 || verdict.unfenced.bytes != 0) [[unlikely]]
    report_shared(place, touch, verdict);
}

void Checker::report_shared(const SharedPlace& place, const Touch& touch, const SharedVerdict& verdict) {
  const LaneClocks& clocks = cluster_->clocks;
  const auto where = [&] {
    return "byte " + std::to_string(place.name_offset) + " of shared " + std::string(place.name) +
           (place.owner == this ? "" : " of " + place.owner->block_name());
  };
  if (verdict.unwritten.any()) {
    find(FindingKind::uninitialised, touch.place(), {},
         [&] { return who(touch) + where() + ", which no thread of the block has written"; });
  }
  if (const Mark& other = verdict.conflict; other.bytes != 0) {
    const std::uint32_t block =
        is_agent(other.thread) ? block_ : clocks.block_number(clocks.rank_of(other.thread));
    judge_conflict(touch, verdict.of_two_stores, place_of(other.pc, other.placed), other.thread,
                   block != block_ || place.owner != this, [&] {
                     return who(touch) + where() + ", which " + earlier(other.thread, block, other.write) +
                            " with no synchronisation between";
                   });
  }
  if (const Mark& other = verdict.unfenced; other.bytes != 0) {
    find(FindingKind::missing_proxy_fence, touch.place(), place_of(other.pc, other.placed), [&] {
      return who(touch) + where() + ", which " +
             earlier(other.thread, clocks.block_number(clocks.rank_of(other.thread)), true) +
             " and did not follow with fence_proxy_async";
    });
  }
}

template <class Text>
void Checker::judge_conflict(const Touch& touch, bool of_two_stores, const Place& other,
                             unsigned other_thread, bool other_block, Text&& text) {
  const FindingKey key{FindingKind::race, touch.place(), other};
  if (!of_two_stores || touch.initialises) {
    find(FindingKind::race, touch.place(), other, text);
    return;
  }
  if (const auto known = findings_.find(key); known != findings_.end()) {
    ++known->second.count;
    return;
  }
  if (other_block) return judge_contested(touch, key, text);
  const bool is_remarked = remarks_.contains({FindingKind::same_value, touch.place(), other});
  const std::optional<StoreTicket> first = ticket_of_store(other_thread - first_thread_, other);
  const unsigned self = current_thread->linear;
  // Where threads are held, the current one is about to be.
  const StoreTicket second{self, held_[self].serial + (metrics_ ? 1 : 0)};
  store_pairs_.add(touch.address, touch.bytes, first, second, key,
                   {grid_->kernel.kernel, is_remarked ? std::string() : text(), 1});
}

template <class Text>
void Checker::judge_contested(const Touch& touch, const FindingKey& key, Text&& text) {
  // The other store is mostly done in a moment, before this one can hide its value; lanes that are held for counting
  // may take longer, and then tell what they stored.
  constexpr std::chrono::microseconds kPatience{200};
  const auto began = std::chrono::steady_clock::now();
  bool in_flight = session_.is_in_flight(touch.address, this);
  while (in_flight && std::chrono::steady_clock::now() - began < kPatience) {
    std::this_thread::yield();
    in_flight = session_.is_in_flight(touch.address, this);
  }
  std::optional<StoredValue> value;
  if (!in_flight) value = stored_value(touch.address, touch.bytes);
  const bool wanted = session_.contested.add(key, touch.address, value, [&] {
    return RawFinding{grid_->kernel.kernel, text(), 1};
  });
  if (wanted) in_flight_[current_thread->linear].contested.store(true);
}

bool Checker::contest(std::uintptr_t address) {
  bool found = false;
  for (StoreInFlight& store : in_flight_) {
    if (store.address.load() != address) continue;
    store.contested.store(true);
    // It may have ended just now, and told nothing.
    found = found || store.address.load() == address;
  }
  return found;
}

void Checker::end_store(StoreInFlight& store) {
  const std::uintptr_t address = store.address.load(std::memory_order_relaxed);
  if (address == 0) return;
  store.address.store(0, std::memory_order_release);
  if (!store.contested.load(std::memory_order_relaxed)) return;
  store.contested.store(false, std::memory_order_relaxed);
  session_.contested.add_value(address, stored_value(address, store.bytes));
}

// The earlier store of a thread of this block at this place, where it waits there still; none: it is done.
std::optional<StoreTicket> Checker::ticket_of_store(unsigned thread, const Place& place) const {
  const Held& held = held_[thread];
  if (!held.waits || !held.is_access || held.pc != place.pc) return std::nullopt;
  return StoreTicket{thread, held.serial};
}

bool Checker::is_done(const StoreTicket& ticket) const {
  const Held& held = held_[ticket.thread];
  return held.serial > ticket.serial || (held.serial == ticket.serial && !held.waits);
}

void Checker::settle_pairs() {
  store_pairs_.settle(findings_, remarks_, [this](const StoreTicket& ticket) { return is_done(ticket); });
}

void Checker::check_remote(const SharedPlace& place, const Touch& touch) {
  const unsigned rank = place.owner->rank_;
  ClusterState::RemoteUse& use = cluster_->remote_uses[rank][touch.id];
  use = {is_agent(touch.id) ? touch.stamp : cluster_->clocks.stamp(touch.id), touch.place(), touch.kind,
         block_};
  if (!cluster_->returned[rank]) return;
  find(FindingKind::left_cluster, touch.place(), {}, [&] {
    return who(touch) + "shared memory of " + place.owner->block_name() +
           ", which has returned: cluster_sync() before the end";
  });
}

void Checker::block_returned() {
  is_in_block_ = false;
  stores_are_done();
  if (cluster_->blocks == 1) return;
  const auto lock = cluster_->lock();
  cluster_->returned[rank_] = true;
  for (const auto& [id, use] : cluster_->remote_uses[rank_]) {
    bool known = false;
    for (unsigned t = 0; t < threads_ && !known; ++t) {
      known = cluster_->clocks.is_ordered(id, use.stamp, first_thread_ + t);
    }
    if (known) continue;
    find(FindingKind::left_cluster, use.place, {}, [&, id = id, &use = use] {
      return block_name() + " returned while its shared memory was in use: " +
             earlier(id, use.block, use.kind != AccessKind::load) + " it; cluster_sync() before the end";
    });
  }
}

void Checker::check_global(KnownBuffer& buffer, std::uintptr_t address, std::size_t bytes,
                           const Touch& touch) {
  const std::size_t offset = address - buffer.begin();
  GlobalVerdict verdict;
  if (touch.kind != AccessKind::store) verdict.unwritten = buffer.unwritten(address, bytes);
  if (touch.of_struct) verdict.unwritten.drop_padding(touch.address, touch.bytes);
  if (touch.kind != AccessKind::load && !is_agent(touch.id)) buffer.set_written(address, bytes);
  if (buffer.shadow() != nullptr) {
    judge_global(buffer, offset, bytes, touch, verdict);
  } else {
    verdict.read_only = touch.kind != AccessKind::load;
  }
  if (verdict.unwritten.any() || verdict.read_only || verdict.conflict.epoch != 0 ||
      verdict.unfenced.epoch != 0) [[unlikely]]
    report_global(buffer, offset, touch, verdict);
}

void Checker::judge_global(KnownBuffer& buffer, std::size_t offset, std::size_t bytes, const Touch& touch,
                           GlobalVerdict& verdict) {
  const auto lock = cluster_->lock();
  const LaneClocks& clocks = cluster_->clocks;
  const unsigned thread = thread_id();
  GlobalMark mark;
  mark.pc = touch.pc;
  mark.stamp = is_agent(touch.id) ? touch.stamp : clocks.stamp(thread);
  mark.block = block_;
  mark.epoch = epoch_;
  mark.thread = static_cast<std::uint16_t>(touch.id);
  mark.atomic = touch.atomic;
  mark.write = touch.kind != AccessKind::load;
  mark.placed = touch.placed;
  const GlobalActor actor{thread, current_thread->linear, clocks, grid_clocks_, is_alone_};
  if (touch.async_proxy && touch.kind == AccessKind::load) {
    const std::function<bool(const GlobalMark&)> fenced = [&](const GlobalMark& write) {
      return is_fenced(session_.global_fences, write.block, write.thread, write.stamp);
    };
    buffer.shadow()->access(offset, bytes, mark, actor, verdict, &fenced);
  } else {
    buffer.shadow()->access(offset, bytes, mark, actor, verdict);
  }
}

void Checker::report_global(const KnownBuffer& buffer, std::size_t offset, const Touch& touch,
                            const GlobalVerdict& verdict) {
  const auto where = [&] { return "byte " + std::to_string(offset) + " of " + buffer.name(); };
  if (verdict.unwritten.any()) {
    find(FindingKind::uninitialised, touch.place(), {},
         [&] { return who(touch) + where() + ", which nobody has written"; });
  }
  if (verdict.read_only) {
    find(FindingKind::read_only_write, touch.place(), {},
         [&] { return who(touch) + where() + ", which is an input"; });
  }
  if (const GlobalMark& other = verdict.conflict; other.epoch != 0) {
    judge_conflict(touch, verdict.of_two_stores, place_of(other.pc, other.placed), other.thread,
                   other.block != block_, [&] {
                     return who(touch) + where() + ", which " +
                            earlier(other.thread, other.block, other.write) +
                            " with no synchronisation between";
                   });
  }
  if (const GlobalMark& other = verdict.unfenced; other.epoch != 0) {
    find(FindingKind::missing_proxy_fence, touch.place(), place_of(other.pc, other.placed), [&] {
      return who(touch) + where() + ", which " + earlier(other.thread, other.block, true) +
             " and did not follow with fence_proxy_async";
    });
  }
}

std::string Checker::thread_name(unsigned linear) const {
  const dim3& block = runner_.block_record().block_dim;
  return detail::describe(uint3{linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)});
}

std::string Checker::who(const Touch& touch) const {
  return block_name() + ", thread " + thread_name(current_thread->linear) + " " +
         (touch.copy != nullptr ? "starts a " + std::string(touch.copy) + " that " : "") + verb(touch.kind) +
         " ";
}

std::string Checker::earlier(unsigned id, std::uint32_t block, bool write) const {
  const std::string did = write ? " wrote" : " read";
  const std::string whose = block == block_ ? "" : " of block " + detail::describe(grid_->block_index(block));
  if (is_agent(id)) return "an asynchronous copy" + whose + did;
  return "thread " + thread_name(id % cluster_->clocks.stride()) + whose + did;
}

std::string Checker::block_name() const { return "block " + detail::describe(runner_.block_record().index); }

}  // namespace rooftile::simt::checked
