// Bulk copies of the simulated SM: what device/sm90a/bulk_copy.h and cluster.h call. Misuse that the hardware
// answers with a fault, or with nothing at all, ends the launch at the line that issued it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/sim/async_queue.h"
#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"

namespace rooftile::simt::detail {

enum class BulkReduction : std::uint8_t { add, min, max };

// Global or shared memory as an element of `dtype`, combined atomically.
void reduce_element(BulkReduction op, DType dtype, void* g_element, const void* element);
// cp.reduce.async.bulk's table: add of 32- and 64-bit integers
// and floats, min and max of integers and of the 16-bit floats.
[[nodiscard]] bool is_bulk_reduction(BulkReduction op, DType dtype);

template <class T>
constexpr DType bulk_dtype() {
  if constexpr (std::is_same_v<T, __half>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return DType::bf16;
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return sizeof(T) == 8 ? DType::i64 : DType::i32;
  } else if constexpr (std::is_integral_v<T>) {
    return sizeof(T) == 8 ? DType::u64 : DType::u32;
  } else {
    return dtype_of<T>;
  }
}

void bulk_load(void* s_destination, const void* g_source, std::uint32_t bytes, std::uint64_t* barrier,
               std::source_location where);
void bulk_load_multicast(void* s_destination, const void* g_source, std::uint32_t bytes,
                         std::uint64_t* barrier, std::uint16_t blocks, std::source_location where);
void bulk_send(void* s_destination, const void* s_source, std::uint32_t bytes, std::uint64_t* barrier,
               unsigned rank, std::source_location where);
void bulk_store(void* g_destination, const void* s_source, std::uint32_t bytes, std::source_location where);
void bulk_reduce_elements(BulkReduction op, DType dtype, void* g_destination, const void* s_source,
                          std::uint32_t bytes, std::source_location where);
template <BulkReduction kOp, class T>
void bulk_reduce(T* g_destination, const T* s_source, std::uint32_t bytes, std::source_location where) {
  bulk_reduce_elements(kOp, bulk_dtype<T>(), g_destination, s_source, bytes, where);
}
// st.async: `value` to the same place of block `rank`, counted there.
void store_async(void* s_destination, const void* value, std::uint32_t bytes, std::uint64_t* barrier,
                 unsigned rank, std::source_location where);

void bulk_commit();
void bulk_wait(std::uint64_t pending, BulkStage stage, std::source_location where);

// For the operations above and tiles.
[[noreturn]] void fail_copy(const char* operation, std::string what, std::source_location where);
void issue_copy(AsyncQueue::Copy copy);
void issue_store(AsyncQueue::Store store);  // of the calling thread
[[nodiscard]] unsigned own_rank();
// Ends the launch when a block of a multicast's mask is not in the cluster, or when there is none.
void check_destinations(const char* operation, std::uint16_t blocks, std::source_location where);
// Calls body(rank) for each block of the mask.
template <class Body>
void for_each_destination(const char* operation, std::uint16_t blocks, std::source_location where,
                          Body&& body) {
  check_destinations(operation, blocks, where);
  for (unsigned rank = 0; blocks >> rank != 0; ++rank) {
    if ((blocks >> rank & 1u) != 0) body(rank);
  }
}
// Wraps a copy into block `rank`, which has to be alive when it happens.
[[nodiscard]] std::function<std::string()> into_block(unsigned rank, std::function<std::string()> copy);

}  // namespace rooftile::simt::detail
