#include "rooftile/core/tensor_map_spec.h"

#include <string>

namespace rooftile {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 32;
constexpr std::int64_t kMaxStrideBytes = (std::int64_t{1} << 40) - 1;
constexpr int kMaxBox = 256;
constexpr int kMaxElementStride = 8;
constexpr std::size_t kMaxTileBytes = std::size_t{227} * 1024;  // a block's shared memory

std::string of_dimension(int d) { return " of dimension " + std::to_string(d); }

Status check_dimension(const TensorMapSpec& spec, int d) {
  const auto i = static_cast<std::size_t>(d);
  const auto bytes = static_cast<std::int64_t>(size_of(spec.dtype));
  if (spec.extents[i] < 1 || spec.extents[i] > kMaxExtent) {
    return invalid_argument("tensor map: the extent" + of_dimension(d) + " must be 1 to 2^32, not " +
                            std::to_string(spec.extents[i]));
  }
  if (d == 0 && spec.strides[0] != 1) {
    return invalid_argument("tensor map: the elements of dimension 0 must be contiguous (stride 1, not " +
                            std::to_string(spec.strides[0]) + ")");
  }
  if (d > 0 && (spec.strides[i] < 1 || spec.strides[i] > kMaxStrideBytes / bytes ||
                spec.strides[i] * bytes % 16 != 0)) {
    return invalid_argument("tensor map: the stride" + of_dimension(d) +
                            " must be a positive multiple of 16 bytes below 2^40, not " +
                            std::to_string(spec.strides[i]) + " elements of " + std::to_string(bytes) +
                            " bytes");
  }
  if (spec.box[i] < 1 || spec.box[i] > kMaxBox) {
    return invalid_argument("tensor map: the box's extent" + of_dimension(d) + " must be 1 to 256, not " +
                            std::to_string(spec.box[i]));
  }
  if (spec.element_strides[i] < 1 || spec.element_strides[i] > kMaxElementStride ||
      (d == 0 && spec.element_strides[0] != 1)) {
    return invalid_argument("tensor map: the element stride" + of_dimension(d) + " must be " +
                            (d == 0 ? "1" : "1 to 8") + ", not " + std::to_string(spec.element_strides[i]));
  }
  return {};
}

}  // namespace

Status check_tensor_map(const TensorMapSpec& spec) {
  if (spec.rank < 1 || spec.rank > kMaxTensorMapRank) {
    return invalid_argument("tensor map: the rank must be 1 to 5, not " + std::to_string(spec.rank));
  }
  if (spec.data == nullptr || reinterpret_cast<std::uintptr_t>(spec.data) % 16 != 0) {
    return invalid_argument(spec.data == nullptr
                                ? "tensor map: no data"
                                : "tensor map: the data must be aligned to 16 bytes, and start " +
                                      std::to_string(reinterpret_cast<std::uintptr_t>(spec.data) % 16) +
                                      " bytes past such a boundary");
  }
  for (int d = 0; d < spec.rank; ++d) ROOFTILE_TRY(check_dimension(spec, d));
  const std::size_t row_bytes = static_cast<std::size_t>(spec.box[0]) * size_of(spec.dtype);
  if (row_bytes % 16 != 0) {
    return invalid_argument("tensor map: a row of the box must be a multiple of 16 bytes, not " +
                            std::to_string(row_bytes));
  }
  const auto span = static_cast<std::size_t>(spec.swizzle);
  if (spec.swizzle != TileSwizzle::none && row_bytes != span) {
    return invalid_argument("tensor map: a row of the box (" + std::to_string(row_bytes) +
                            " bytes) must be the swizzle's " + std::to_string(span));
  }
  if (tile_bytes(spec) > kMaxTileBytes) {
    return invalid_argument("tensor map: a tile of " + std::to_string(tile_bytes(spec)) +
                            " bytes is more than the shared memory of a block (" +
                            std::to_string(kMaxTileBytes) + ")");
  }
  const bool has_nan = spec.dtype == DType::f64 || spec.dtype == DType::f32 || spec.dtype == DType::f16 ||
                       spec.dtype == DType::bf16;
  if (spec.fill == OutOfBoundsFill::nan && !has_nan) {
    return invalid_argument("tensor map: elements of " + std::string(to_string(spec.dtype)) +
                            " cannot be filled with NaN: use zeros");
  }
  return {};
}

std::size_t tile_bytes(const TensorMapSpec& spec) {
  std::size_t bytes = size_of(spec.dtype);
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    bytes *= static_cast<std::size_t>((spec.box[d] + spec.element_strides[d] - 1) / spec.element_strides[d]);
  }
  return bytes;
}

}  // namespace rooftile
