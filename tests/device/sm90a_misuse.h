// Kernels that misuse asynchronous copies, mbarriers and clusters: what the simulated SM must show.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor_map_spec.h"

namespace rooftile {
namespace testing_sm90a {

enum class Misuse {
  // A wrong result: 64 words from g_in to g_out.
  none,
  load_read_before_its_wait,
  store_source_overwritten,
  store_read_before_it_is_written,
  // A failed launch.
  returns_before_the_load,
  returns_before_the_store,
  expects_too_few_bytes,
  expects_too_many_bytes,
  never_initialised,
  too_many_arrivals,
  parity_of_two,
  expects_more_than_it_counts,
  misaligned_bulk_source,
  misaligned_bulk_destination,
  odd_bulk_size,
  misaligned_tile,
  tile_off_the_swizzles_repeat,
  tile_larger_than_shared_memory,
  coordinates_of_another_rank,
  box_off_16_bytes,
  store_before_the_tensor,
  not_shared_memory,
  store_async_alone,
  rank_outside_the_cluster,  // from here on in clusters of two
  sends_past_shared_memory,
  misaligned_store_async,
  mask_outside_the_cluster,
  waits_without_arriving,
  arrives_twice,
  maps_a_block_that_returned,
};

inline constexpr unsigned kMisuseWords = 64;

}  // namespace testing_sm90a

namespace sim {
Status run_misuse(StreamRef stream, testing_sm90a::Misuse misuse, const std::uint32_t* g_in,
                  std::uint32_t* g_out);
}
}  // namespace rooftile
