#include "rooftile/sim/bulk_copy.h"

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "rooftile/sim/block.h"
#include "rooftile/sim/cluster.h"
#include "rooftile/sim/mbarrier.h"
#include "rooftile/sim/shared_memory.h"

namespace rooftile::simt::detail {
namespace {

constexpr std::size_t kBulkUnit = 16;

void check_bulk(const char* operation, const void* global, const void* shared, std::uint32_t bytes,
                std::source_location where) {
  if (bytes == 0 || bytes % kBulkUnit != 0) {
    fail_copy(operation, "the size must be a positive multiple of 16 bytes, not " + std::to_string(bytes),
              where);
  }
  if (const auto off = reinterpret_cast<std::uintptr_t>(global) % kBulkUnit; off != 0) {
    fail_copy(operation,
              "the global address must be aligned to 16 bytes, and is " + std::to_string(off) +
                  " bytes past such a boundary",
              where);
  }
  check_shared(operation, shared, bytes, kBulkUnit, where);
}

// A launch without clusters has no shared::cluster to store into: seen on an H200 as an illegal instruction.
void check_cluster(const char* operation, std::source_location where) {
  if (cluster_blocks() < 2) fail_copy(operation, "needs a cluster of at least two blocks", where);
}

AsyncQueue::Copy load(const char* name, void* destination, const void* g_source, std::uint32_t bytes,
                      std::uint64_t* barrier, std::source_location where) {
  return {[=] {
            move_bytes(destination, g_source, bytes);
            return mbarrier_complete_tx(barrier, bytes);
          },
          name, where, true};
}

template <class T, class Word>
void combine(BulkReduction op, void* g_element, const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  typedef Word Aliasing __attribute__((may_alias));
  auto* word = static_cast<Aliasing*>(g_element);
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word after = 0;
  do {
    T old;
    std::memcpy(&old, &before, sizeof(T));
    if (op == BulkReduction::add) {
      old = static_cast<T>(old + value);
    } else if (op == BulkReduction::min ? value < old : value > old) {
      old = value;
    }
    std::memcpy(&after, &old, sizeof(T));
  } while (!__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// A number in 16 bits: the sum in double is exact, and rounded
// once; of a NaN and a number, min and max take the number.
template <class Storage>
struct Sixteen {
  Storage storage;
  [[nodiscard]] float wide() const { return to_float(storage); }
  friend Sixteen operator+(Sixteen a, Sixteen b) {
    const double sum = static_cast<double>(a.wide()) + b.wide();
    if constexpr (std::is_same_v<Storage, Float16>) {
      return {to_float16(sum)};
    } else {
      return {to_bfloat16(sum)};
    }
  }
  // Whether `value` takes the place of `old`, as a minimum and as a maximum.
  friend bool operator<(Sixteen value, Sixteen old) {
    return std::isnan(old.wide()) || value.wide() < old.wide();
  }
  friend bool operator>(Sixteen value, Sixteen old) {
    return std::isnan(old.wide()) || value.wide() > old.wide();
  }
};

}  // namespace

void fail_copy(const char* operation, std::string what, std::source_location where) {
  report_failure(std::string(operation) + ": " + what, where);
  std::string().swap(what);  // nothing on an abandoned stack is destroyed
  abandon_thread();
}

void issue_copy(AsyncQueue::Copy copy) { current_runner->async().add(std::move(copy)); }
void issue_store(AsyncQueue::Store store) {
  store.thread = current_thread->linear;
  current_runner->async().add(std::move(store));
}
unsigned own_rank() { return current_block->cluster_rank; }

void check_destinations(const char* operation, std::uint16_t blocks, std::source_location where) {
  if (blocks != 0 && blocks >> cluster_blocks() == 0) return;
  fail_copy(operation,
            "the mask of blocks is " + std::to_string(blocks) + ", in a cluster of " +
                std::to_string(cluster_blocks()),
            where);
}

std::function<std::string()> into_block(unsigned rank, std::function<std::string()> copy) {
  return [rank, copy = std::move(copy), &cluster = current_runner->cluster()]() -> std::string {
    if (!cluster.alive(rank)) {
      return "block " + std::to_string(rank) +
             " of the cluster returned before the copy into its shared memory was complete";
    }
    return copy();
  };
}

void bulk_load(void* s_destination, const void* g_source, std::uint32_t bytes, std::uint64_t* barrier,
               std::source_location where) {
  check_bulk("bulk_load", g_source, s_destination, bytes, where);
  check_shared("bulk_load's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  note_copy({.name = "bulk_load", .where = where, .mbarrier = barrier}, {g_source, bytes},
            {s_destination, bytes});
  issue_copy(load("bulk_load", s_destination, g_source, bytes, barrier, where));
}

void bulk_load_multicast(void* s_destination, const void* g_source, std::uint32_t bytes,
                         std::uint64_t* barrier, std::uint16_t blocks, std::source_location where) {
  constexpr const char* kName = "bulk_load_multicast";
  check_bulk(kName, g_source, s_destination, bytes, where);
  check_shared("bulk_load_multicast's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  CopyIssue issue{.name = kName, .where = where};
  for_each_destination(kName, blocks, where, [&](unsigned rank) {
    void* destination = map_shared_rank(s_destination, rank, where);
    auto* remote = static_cast<std::uint64_t*>(map_shared_rank(barrier, rank, where));
    issue.mbarrier = remote;
    note_copy(issue, {g_source, bytes}, {destination, bytes});
    issue.is_first = false;
    AsyncQueue::Copy copy = load(kName, destination, g_source, bytes, remote, where);
    copy.own_shared = rank == own_rank();
    copy.run = into_block(rank, std::move(copy.run));
    issue_copy(std::move(copy));
  });
}

void bulk_send(void* s_destination, const void* s_source, std::uint32_t bytes, std::uint64_t* barrier,
               unsigned rank, std::source_location where) {
  check_cluster("bulk_send", where);
  check_bulk("bulk_send", s_destination, s_source, bytes, where);
  check_shared("bulk_send's destination", s_destination, bytes, kBulkUnit, where);
  check_shared("bulk_send's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  void* destination = map_shared_rank(s_destination, rank, where);
  auto* remote = static_cast<std::uint64_t*>(map_shared_rank(barrier, rank, where));
  note_copy({.name = "bulk_send", .where = where, .mbarrier = remote}, {s_source, bytes},
            {destination, bytes});
  AsyncQueue::Copy copy = load("bulk_send", destination, s_source, bytes, remote, where);
  copy.run = into_block(rank, std::move(copy.run));
  issue_copy(std::move(copy));
}

void bulk_store(void* g_destination, const void* s_source, std::uint32_t bytes, std::source_location where) {
  check_bulk("bulk_store", g_destination, s_source, bytes, where);
  note_copy({.name = "bulk_store", .where = where}, {s_source, bytes}, {g_destination, bytes});
  issue_store({[=](std::vector<std::byte>& staged) {
                 staged.resize(bytes);
                 move_bytes(staged.data(), s_source, bytes);
               },
               [=](const std::vector<std::byte>& staged) { move_bytes(g_destination, staged.data(), bytes); },
               "bulk_store", where, 0});
}

void bulk_reduce_elements(BulkReduction op, DType dtype, void* g_destination, const void* s_source,
                          std::uint32_t bytes, std::source_location where) {
  check_bulk("bulk_reduce", g_destination, s_source, bytes, where);
  note_copy({.name = "bulk_reduce", .where = where, .updates = true}, {s_source, bytes},
            {g_destination, bytes});
  issue_store({[=](std::vector<std::byte>& staged) {
                 staged.resize(bytes);
                 move_bytes(staged.data(), s_source, bytes);
               },
               [=](const std::vector<std::byte>& staged) {
                 for (std::size_t i = 0; i < bytes; i += size_of(dtype)) {
                   reduce_element(op, dtype, static_cast<std::byte*>(g_destination) + i, staged.data() + i);
                 }
               },
               "bulk_reduce", where, 0});
}

void store_async(void* s_destination, const void* value, std::uint32_t bytes, std::uint64_t* barrier,
                 unsigned rank, std::source_location where) {
  check_cluster("store_async", where);
  check_shared("store_async", s_destination, bytes, bytes, where);
  check_shared("store_async's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  std::array<std::byte, 16> kept{};
  std::memcpy(kept.data(), value, bytes);
  void* destination = map_shared_rank(s_destination, rank, where);
  auto* remote = static_cast<std::uint64_t*>(map_shared_rank(barrier, rank, where));
  note_copy({.name = "store_async", .where = where, .mbarrier = remote, .async_proxy = false}, {value, 0},
            {destination, bytes});
  issue_copy({into_block(rank,
                         [=] {
                           move_bytes(destination, kept.data(), bytes);
                           return mbarrier_complete_tx(remote, bytes);
                         }),
              "store_async", where, rank == own_rank()});
}

void bulk_commit() { current_runner->async().commit(current_thread->linear); }

void bulk_wait(std::uint64_t pending, BulkStage stage, std::source_location where) {
  if (is_disabled(where)) return;
  current_runner->async().wait(current_thread->linear, pending, stage, where);
  note_progress();
}

bool is_bulk_reduction(BulkReduction op, DType dtype) {
  switch (dtype) {
    case DType::i32:
    case DType::i64:
    case DType::u32:
    case DType::u64:
    case DType::f16:
    case DType::bf16:
      return true;
    case DType::f32:
    case DType::f64:
      return op == BulkReduction::add;
    default:
      return false;
  }
}

void reduce_element(BulkReduction op, DType dtype, void* g_element, const void* element) {
  switch (dtype) {
    case DType::f64:
      return combine<double, std::uint64_t>(op, g_element, element);
    case DType::f32:
      return combine<float, std::uint32_t>(op, g_element, element);
    case DType::i64:
      // Wraps, as unsigned; the order is the signed one.
      return op == BulkReduction::add ? combine<std::uint64_t, std::uint64_t>(op, g_element, element)
                                      : combine<std::int64_t, std::uint64_t>(op, g_element, element);
    case DType::i32:
      return op == BulkReduction::add ? combine<std::uint32_t, std::uint32_t>(op, g_element, element)
                                      : combine<std::int32_t, std::uint32_t>(op, g_element, element);
    case DType::u64:
      return combine<std::uint64_t, std::uint64_t>(op, g_element, element);
    case DType::u32:
      return combine<std::uint32_t, std::uint32_t>(op, g_element, element);
    case DType::f16:
      return combine<Sixteen<Float16>, std::uint16_t>(op, g_element, element);
    case DType::bf16:
      return combine<Sixteen<BFloat16>, std::uint16_t>(op, g_element, element);
    default:
      return;  // is_bulk_reduction() was asked
  }
}

}  // namespace rooftile::simt::detail
