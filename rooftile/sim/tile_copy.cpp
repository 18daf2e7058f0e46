#include "rooftile/sim/tile_copy.h"

#include <string>
#include <utility>

#include "rooftile/sim/cluster.h"
#include "rooftile/sim/mbarrier.h"
#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::detail {
namespace {

constexpr std::int64_t kChunk = 16;  // bytes that a swizzle keeps together, and at which a box may start

std::size_t elements_of(const TensorMapSpec& spec, std::size_t d) {
  return static_cast<std::size_t>((spec.box[d] + spec.element_strides[d] - 1) / spec.element_strides[d]);
}

// What fills the outside: zeros, or the NaN of an H200.
std::byte fill_byte(const TensorMapSpec& spec, std::size_t i) {
  if (spec.fill == OutOfBoundsFill::zeros) return std::byte{0};
  return i % 2 == 0 ? std::byte{0xf7} : std::byte{0x7f};
}

// Calls body(offset in the swizzled tile, global address, elements) for every run of elements of the tile
// that lie in one 16-byte chunk and all inside the tensor, or body(offset, nullptr, elements) outside it.
template <class Body>
void for_each_run(const Tile& tile, Body&& body) {
  const TensorMapSpec& spec = tile.spec;
  const auto rank = static_cast<std::size_t>(spec.rank);
  const auto element = static_cast<std::uint32_t>(size_of(spec.dtype));
  const std::size_t row_elements = elements_of(spec, 0);
  const std::size_t chunk_elements = static_cast<std::size_t>(kChunk) / element;
  std::size_t rows = 1;
  for (std::size_t d = 1; d < rank; ++d) rows *= elements_of(spec, d);

  for (std::size_t row = 0; row < rows; ++row) {
    bool inside = true;
    std::int64_t row_start = 0;  // elements from spec.data
    std::size_t rest = row;
    for (std::size_t d = 1; d < rank; ++d) {
      const auto i = static_cast<std::int64_t>(rest % elements_of(spec, d));
      rest /= elements_of(spec, d);
      const std::int64_t at = tile.at[d] + i * spec.element_strides[d];
      inside = inside && at >= 0 && at < spec.extents[d];
      row_start += at * spec.strides[d];
    }
    for (std::size_t first = 0; first < row_elements; first += chunk_elements) {
      const auto offset = static_cast<std::uint32_t>((row * row_elements + first) * element);
      const std::uint32_t chunk = swizzled(spec.swizzle, offset);
      for (std::size_t i = 0; i < chunk_elements;) {
        const auto is_inside = [&](std::size_t k) {
          const std::int64_t x = tile.at[0] + static_cast<std::int64_t>(first + k);
          return inside && x >= 0 && x < spec.extents[0];
        };
        std::size_t end = i + 1;
        while (end < chunk_elements && is_inside(end) == is_inside(i)) ++end;
        const std::int64_t x = tile.at[0] + static_cast<std::int64_t>(first + i);
        std::byte* global =
            is_inside(i) ? static_cast<std::byte*>(spec.data) + (row_start + x) * element : nullptr;
        body(chunk + static_cast<std::uint32_t>(i) * element, global, end - i);
        i = end;
      }
    }
  }
}

// Calls body(offset in the swizzled tile, global address) for every chunk that a store writes: whole ones,
// also where the tensor ends within. A box starts at a chunk, so that what lies inside does, too.
template <class Body>
void for_each_written_chunk(const Tile& tile, Body&& body) {
  for_each_run(tile, [&](std::uint32_t offset, std::byte* global, std::size_t) {
    if (global != nullptr) body(offset, global);
  });
}

std::string load_tile(std::byte* s_tile, const Tile& tile, std::uint64_t* barrier) {
  const std::size_t element = size_of(tile.spec.dtype);
  for_each_run(tile, [&](std::uint32_t offset, const std::byte* global, std::size_t count) {
    std::byte filled[kChunk];
    if (global == nullptr) {
      for (std::size_t i = 0; i < count * element; ++i) filled[i] = fill_byte(tile.spec, i);
    }
    move_bytes(s_tile + offset, global != nullptr ? global : filled, count * element);
  });
  return mbarrier_complete_tx(barrier, static_cast<std::uint32_t>(tile_bytes(tile.spec)));
}

void check(const char* operation, const Tile& tile, const void* s_tile, std::source_location where) {
  check_tile(tile, operation, where);
  check_shared(operation, s_tile, tile_bytes(tile.spec), tile_alignment(tile.spec.swizzle), where);
}

void check_outbound(const char* operation, const Tile& tile, const void* s_tile, std::source_location where) {
  check(operation, tile, s_tile, where);
  for (std::size_t d = 0; d < static_cast<std::size_t>(tile.rank); ++d) {
    if (tile.at[d] < 0) {  // an illegal instruction on an H200
      fail_copy(operation,
                "the box must not start before the tensor, at " + std::to_string(tile.at[d]) +
                    " of dimension " + std::to_string(d),
                where);
    }
    if (tile.spec.element_strides[d] != 1) {
      fail_copy(operation, "a tensor map with element strides serves loads alone", where);
    }
  }
}

AsyncQueue::Copy load(const char* name, void* s_tile, const Tile& tile, std::uint64_t* barrier,
                      std::source_location where) {
  return {[s_tile, tile, barrier] { return load_tile(static_cast<std::byte*>(s_tile), tile, barrier); }, name,
          where, true};
}

// Tells the watcher, where there is one, of a copy between the tile at `s_tile` and global memory.
enum class Direction { load, store };
void note_tile(const CopyIssue& copy, const Tile& tile, const void* s_tile, Direction direction) {
  BlockWatcher* watcher = block_watcher();
  if (watcher == nullptr) return;
  std::vector<CopyRange> global;
  const std::size_t element = size_of(tile.spec.dtype);
  for_each_run(tile, [&](std::uint32_t, const std::byte* address, std::size_t count) {
    if (address == nullptr) return;
    const std::size_t bytes = direction == Direction::load ? count * element : std::size_t{kChunk};
    if (!global.empty() &&
        static_cast<const std::byte*>(global.back().address) + global.back().bytes == address) {
      global.back().bytes += bytes;
    } else {
      global.push_back({address, bytes});
    }
  });
  const CopyRange shared{s_tile, tile_bytes(tile.spec)};
  if (direction == Direction::load) {
    watcher->copy_issued(copy, global, {&shared, 1});
  } else {
    watcher->copy_issued(copy, {&shared, 1}, global);
  }
}

// Into the calling thread's bulk group; `write` gets the tile as it lay in shared memory.
void store(const char* name, const void* s_tile, const Tile& tile,
           std::function<void(const std::vector<std::byte>&)> write, std::source_location where) {
  issue_store({[s_tile, bytes = tile_bytes(tile.spec)](std::vector<std::byte>& staged) {
                 staged.resize(bytes);
                 move_bytes(staged.data(), s_tile, bytes);
               },
               std::move(write), name, where, 0});
}

}  // namespace

void check_tile(const Tile& tile, const char* operation, std::source_location where) {
  if (tile.spec.rank != tile.rank) {
    fail_copy(operation,
              tile.spec.rank == 0 ? "the tensor map was not made (make_tensor_map)"
                                  : std::to_string(tile.rank) + " coordinates for a tensor map of rank " +
                                        std::to_string(tile.spec.rank),
              where);
  }
  // An illegal instruction on an H200.
  if (tile.at[0] * static_cast<std::int64_t>(size_of(tile.spec.dtype)) % kChunk != 0) {
    fail_copy(operation,
              "the box must start at a multiple of 16 bytes in dimension 0, not at element " +
                  std::to_string(tile.at[0]) + " of " + std::to_string(size_of(tile.spec.dtype)) + " bytes",
              where);
  }
}

void tile_load(void* s_tile, const Tile& tile, std::uint64_t* barrier, std::source_location where) {
  check("tma_load", tile, s_tile, where);
  check_shared("tma_load's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  note_tile({.name = "tma_load", .where = where, .mbarrier = barrier}, tile, s_tile, Direction::load);
  issue_copy(load("tma_load", s_tile, tile, barrier, where));
}

void tile_load_multicast(void* s_tile, const Tile& tile, std::uint64_t* barrier, std::uint16_t blocks,
                         std::source_location where) {
  constexpr const char* kName = "tma_load_multicast";
  check(kName, tile, s_tile, where);
  check_shared("tma_load_multicast's mbarrier", barrier, sizeof(*barrier), sizeof(*barrier), where);
  CopyIssue issue{.name = kName, .where = where};
  for_each_destination(kName, blocks, where, [&](unsigned rank) {
    void* destination = map_shared_rank(s_tile, rank, where);
    auto* remote = static_cast<std::uint64_t*>(map_shared_rank(barrier, rank, where));
    issue.mbarrier = remote;
    note_tile(issue, tile, destination, Direction::load);
    issue.is_first = false;
    AsyncQueue::Copy copy = load(kName, destination, tile, remote, where);
    copy.own_shared = rank == own_rank();
    copy.run = into_block(rank, std::move(copy.run));
    issue_copy(std::move(copy));
  });
}

void tile_store(const Tile& tile, const void* s_tile, std::source_location where) {
  check_outbound("tma_store", tile, s_tile, where);
  note_tile({.name = "tma_store", .where = where}, tile, s_tile, Direction::store);
  store(
      "tma_store", s_tile, tile,
      [tile](const std::vector<std::byte>& staged) {
        for_each_written_chunk(tile, [&](std::uint32_t offset, std::byte* global) {
          move_bytes(global, staged.data() + offset, kChunk);
        });
      },
      where);
}

void tile_reduce(BulkReduction op, const Tile& tile, const void* s_tile, std::source_location where) {
  check_outbound("tma_reduce", tile, s_tile, where);
  // The tensor form has fewer: add of i64 is an illegal instruction on an H200.
  const bool missing =
      tile.spec.dtype == DType::f64 || (tile.spec.dtype == DType::i64 && op == BulkReduction::add);
  if (missing || !is_bulk_reduction(op, tile.spec.dtype)) {
    fail_copy("tma_reduce", "no such reduction of a map of " + std::string(to_string(tile.spec.dtype)),
              where);
  }
  note_tile({.name = "tma_reduce", .where = where, .updates = true}, tile, s_tile, Direction::store);
  store(
      "tma_reduce", s_tile, tile,
      [op, tile](const std::vector<std::byte>& staged) {
        for_each_written_chunk(tile, [&](std::uint32_t offset, std::byte* global) {
          for (std::size_t i = 0; i < static_cast<std::size_t>(kChunk); i += size_of(tile.spec.dtype)) {
            reduce_element(op, tile.spec.dtype, global + i, staged.data() + offset + i);
          }
        });
      },
      where);
}

}  // namespace rooftile::simt::detail
