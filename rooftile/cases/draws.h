// Draws of tensors that no fill makes: indices, keys, lengths, boxes. Each from the case's seed alone, by the host, the
// same in every run; plan() of a case may call `fill` itself with draw_seed(), where its bytes depend on what is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "rooftile/core/case.h"

namespace rooftile {

// What the input-th slot that is read is drawn from: two slots of one case are not to be alike.
[[nodiscard]] std::uint64_t draw_seed(std::uint64_t case_seed, std::size_t input);

// A fill, whatever the case's is.
[[nodiscard]] Draw drawn_by(Fill fill);
// Integers of [low, high), with duplicates. With outside_every > 0 one in so many, on average, is below or not below:
// low - 1, high, or the dtype's least or largest value, as far as those are outside. An error where there is no such
// integer.
[[nodiscard]] Draw drawn_indices(std::int64_t low, std::int64_t high, int outside_every = 0);
// 0 to n - 1, each once.
[[nodiscard]] Draw drawn_permutation();
// A fill's elements in rising order; NaNs last.
[[nodiscard]] Draw drawn_sorted(Fill fill);
// Of n elements: n - 1 lengths that add up to `total`, cumulated: 0 first, `total` last; with three lengths or more the one
// in the middle is 0.
[[nodiscard]] Draw drawn_cumulative_lengths(std::int64_t total);
// Pages of a pool of `pages`, no page twice. Precondition: as many elements at most.
[[nodiscard]] Draw drawn_pages(std::int64_t pages);
// [n,4] boxes x0, y0, x1, y1 in a picture: one in eight is another one once more, one in eight is empty.
[[nodiscard]] Draw drawn_boxes(double width, double height);
// [h,w,c] bytes of a picture: slopes, edges, flat areas and noise.
[[nodiscard]] Draw drawn_image();
// Made from the tensors of the slots in front: packed, quantised, sorted by another operator.
[[nodiscard]] Draw made_from(
    std::string name, std::function<Status(HostTensor& tensor, std::span<const HostTensor> before)> make);

}  // namespace rooftile
