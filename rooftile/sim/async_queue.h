// Asynchronous operations of a block that were issued and have not happened yet.
//
// They happen as late as is legal, so that a missing wait gives a wrong result: one that signals an mbarrier
// when no thread of the block can run; a store's reading of shared memory, and its writing of global memory,
// in the wait for its bulk group that covers it, or when nothing else is left to do. Among several the lane
// order chooses: hardware promises none.
//
// An operation moves its bytes by move_bytes(): the one place where memory is accessed outside a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "rooftile/sim/config.h"

namespace rooftile::simt::detail {

enum class BulkStage : std::uint8_t { read, written };

void move_bytes(void* destination, const void* source, std::size_t bytes);

class AsyncQueue {
 public:
  struct Copy {
    std::function<std::string()> run;  // returns what is wrong, or nothing
    const char* name;
    std::source_location where;
    bool own_shared;  // accesses the shared memory of the block that issued it
  };
  struct Store {
    std::function<void(std::vector<std::byte>& staged)> read;
    std::function<void(const std::vector<std::byte>& staged)> write;
    const char* name;
    std::source_location where;
    unsigned thread;  // that issued it, by its linear index
    std::uint64_t group = 0;
    bool has_read = false;
    std::vector<std::byte> staged{};
  };

  void add(Copy copy) { copies_.push_back(std::move(copy)); }
  void add(Store store);
  void commit(unsigned thread);
  void wait(unsigned thread, std::uint64_t pending, BulkStage stage, std::source_location where);

  [[nodiscard]] bool empty() const { return copies_.empty() && stores_.empty(); }
  // One operation: copies first. Returns what is wrong, or nothing. Precondition: not empty.
  [[nodiscard]] std::string run_one(LaneOrder order, std::uint64_t random);
  // The block has returned: what may still happen does; what needs the block's shared memory is wrong.
  [[nodiscard]] std::string finish();
  void clear();

 private:
  [[nodiscard]] std::uint64_t& committed(unsigned thread);

  std::vector<Copy> copies_;
  std::vector<Store> stores_;
  std::vector<std::uint64_t> committed_;  // groups, by thread
};

}  // namespace rooftile::simt::detail
