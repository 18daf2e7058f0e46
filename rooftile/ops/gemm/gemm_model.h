// How a product is cut into tiles and tiles into blocks, by what a model expects of each way.
#pragma once

#include <cstddef>
#include <string>

#include "rooftile/core/device.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::gemm_plan {

// Every tile a block's own.
[[nodiscard]] Schedule whole_tiles(const Problem& problem, std::size_t element, TileSize size);
// Every large tile cut into as many parts as fill the device.
[[nodiscard]] Schedule split_tiles(const Problem& problem, std::size_t element,
                                   const DeviceProperties& device);
// The one that the model expects to be fastest.
[[nodiscard]] Schedule fastest(const Problem& problem, std::size_t element, const DeviceProperties& device);

// Sliced or narrow tiles, each by as many blocks of a cluster as the model expects to be fastest: `units` blocks for `split_tiles`
// tiles, all of them. Of f32.
[[nodiscard]] Schedule clustered(const Problem& problem, const DeviceProperties& device);
// What persistent is expected to take. Of f32.
[[nodiscard]] double persistent_microseconds(const Problem& problem, const DeviceProperties& device);
// What skinny is expected to take, of a product that it serves (skinny_problem_of()).
[[nodiscard]] double skinny_microseconds(const Problem& problem, const DeviceProperties& device);

// The model's reasons, in lines: what was considered, and what each is expected to take. Of a GPU; nothing where nothing is to be
// computed, or nothing to be multiplied in 16 bits.
[[nodiscard]] std::string explain(const GemmArgs& args, const DeviceProperties& device);

}  // namespace rooftile::gemm_plan
