// Loads and stores of fragments. Where a register holds other bytes than the lane accesses (ldmatrix, and
// matrices that lie transposed), the warp exchanges them, as ldmatrix and movmatrix do.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "rooftile/sim/matrix_tile.h"
#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/watcher.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

constexpr unsigned kMostTiles = 8;
constexpr unsigned kFullWarp = 0xffffffffu;

// How a lane's accesses of a tile lie in memory.
enum class Form {
  runs,             // the run that it holds
  elements,         // one by one
  transposed_runs,  // two 16-bit elements of two lines
  rows,             // ldmatrix: lane l brings row l % 8 of tile l / 8
  transposed_rows,
};

Form form_of(const FragmentLayout& layout, const MatrixView& matrix) {
  const bool along_lines = matrix.row_major == layout.lines_are_rows;
  if (!along_lines && bytes_of(layout.element) != 2) return Form::elements;
  if (layout.by_ldmatrix && in_shared_memory(matrix.start, 1)) {
    return along_lines ? Form::rows : Form::transposed_rows;
  }
  return along_lines ? Form::runs : Form::transposed_runs;
}

// By one instruction of the host, each.
void copy_access(void* to, const void* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, kRowBytes);
  }
}

class MoveStep final : public MatrixStep {
 public:
  MoveStep(const FragmentLayout& layout, const MatrixView& matrix, std::source_location where)
      : MatrixStep(where), layout_(layout), matrix_(matrix), form_(form_of(layout, matrix)) {}

  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    const auto& step = static_cast<const MoveStep&>(other);
    return layout_ == step.layout_ && matrix_ == step.matrix_ && has_words_ == step.has_words_;
  }

  // The words that the lanes hold become those that each is to have.
  void run(MatrixStep* const* lanes) override {
    if (!has_words_) return;
    for (unsigned tile = 0; tile < tiles_of(layout_); ++tile) exchange(lanes, tile);
  }

  [[nodiscard]] bool is_exchanged() const { return form_ != Form::runs && form_ != Form::elements; }

  void load(std::byte* elements, const void* pc, const void* frame) {
    for_each_access([&](const std::byte* from, unsigned held, unsigned bytes) {
      if (watcher_ != nullptr) watcher_->accessed({from, bytes}, false, is_by_rows(), pc, frame);
      copy_access((is_exchanged() ? as_bytes(words_) : elements) + held, from, bytes);
    });
    has_words_ = is_exchanged();
  }
  void take_exchanged(std::byte* elements) const {
    std::memcpy(elements, exchanged_, tiles_of(layout_) * sizeof(std::uint32_t));
  }

  void give_for_exchange(const std::byte* elements) {
    has_words_ = is_exchanged();
    if (has_words_) std::memcpy(words_, elements, tiles_of(layout_) * sizeof(std::uint32_t));
  }
  void store(const std::byte* elements, const void* pc, const void* frame) {
    for_each_access([&](std::byte* to, unsigned held, unsigned bytes) {
      if (watcher_ != nullptr) watcher_->accessed({to, bytes}, true, is_by_rows(), pc, frame);
      copy_access(to, (is_exchanged() ? as_bytes(exchanged_) : elements) + held, bytes);
    });
  }

 private:
  static std::byte* as_bytes(std::uint32_t* words) { return reinterpret_cast<std::byte*>(words); }
  [[nodiscard]] bool is_transposed() const {
    return form_ == Form::transposed_runs || form_ == Form::transposed_rows;
  }
  [[nodiscard]] bool is_by_rows() const { return form_ == Form::rows || form_ == Form::transposed_rows; }
  // Tiles that one ldmatrix brings.
  [[nodiscard]] unsigned tiles_at_once() const {
    return std::min(tiles_of(layout_), bytes_of(layout_.element) == 2 ? 4u : 2u);
  }

  // `outer`: rows of a row-major matrix.
  [[nodiscard]] std::byte* address(unsigned outer, unsigned inner) const {
    return static_cast<std::byte*>(matrix_.start) +
           (std::size_t{outer} * matrix_.stride + inner) * bytes_of(layout_.element);
  }

  // The current lane's accesses: body(address, offset in what the lane holds, bytes).
  template <class Body>
  void for_each_access(Body&& body) const {
    const unsigned lane = current_thread->lane;
    if (is_by_rows()) return for_each_row(lane, body);
    const unsigned bytes = bytes_of(layout_.element);
    const unsigned run_bytes = layout_.run * bytes;
    for (unsigned tile = 0; tile < tiles_of(layout_); ++tile) {
      const unsigned held = tile * run_bytes;
      const LinePlace first = tile_place(layout_, tile);
      const LinePlace own = run_place(layout_, tile, lane);
      if (form_ == Form::runs) {
        body(address(own.line, own.along), held, run_bytes);
      } else if (form_ == Form::transposed_runs) {
        body(address(first.along + lane / kTileRuns, first.line + 2 * (lane % kTileRuns)), held, run_bytes);
      } else {
        for (unsigned i = 0; i < layout_.run; ++i) {
          body(address(own.along + i, own.line), held + i * bytes, bytes);
        }
      }
    }
  }
  template <class Body>
  void for_each_row(unsigned lane, Body&& body) const {
    const unsigned at_once = tiles_at_once();
    if (lane >= at_once * kTileLines) return;  // ldmatrix takes no address from it
    for (unsigned group = 0; group < tiles_of(layout_) / at_once; ++group) {
      const LinePlace first = tile_place(layout_, group * at_once + lane / kTileLines);
      const unsigned row = lane % kTileLines;
      body(is_transposed() ? address(first.along + row, first.line) : address(first.line + row, first.along),
           group * kRowBytes, kRowBytes);
    }
  }

  void exchange(MatrixStep* const* lanes, unsigned tile) const {
    MatrixTile rows;
    const unsigned at_once = tiles_at_once();
    for (unsigned row = 0; row < kTileLines; ++row) {
      for (unsigned word = 0; word < kRowWords; ++word) {
        rows[row][word] =
            is_by_rows()
                ? step(lanes, tile % at_once * kTileLines + row).words_[tile / at_once * kRowWords + word]
                : step(lanes, row * kTileRuns + word).words_[tile];
      }
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      step(lanes, lane).exchanged_[tile] =
          tile_word(rows, lane / kTileRuns, lane % kTileRuns, is_transposed());
    }
  }
  static MoveStep& step(MatrixStep* const* lanes, unsigned lane) {
    return *static_cast<MoveStep*>(lanes[lane]);
  }

  const FragmentLayout& layout_;
  const MatrixView matrix_;
  const Form form_;
  BlockWatcher* const watcher_ = block_watcher();
  bool has_words_ = false;
  std::uint32_t words_[kMostTiles];
  std::uint32_t exchanged_[kMostTiles];
};

// Rows of 16 bytes, as CUDA's guide has it. For bytes, of which it does not speak, only where they are read as
// rows; else what PTX asks for: the bytes of a lane's fragment.
unsigned stride_bytes(const FragmentLayout& layout, const MatrixView& matrix) {
  constexpr unsigned kMost = 16;
  const bool along_lines = matrix.row_major == layout.lines_are_rows;
  if (bytes_of(layout.element) > 1 || along_lines) return kMost;
  return std::min(kMost, held_elements(layout));
}

void check_matrix(const char* name, const FragmentLayout& layout, const MatrixView& matrix,
                  std::source_location where) {
  constexpr unsigned kAlignment = 32;
  const unsigned row_bytes = stride_bytes(layout, matrix);
  const unsigned multiple = row_bytes / bytes_of(layout.element);
  std::string wrong;
  if (const auto off = reinterpret_cast<std::uintptr_t>(matrix.start) % kAlignment; off != 0) {
    wrong = "the matrix must start at a multiple of 32 bytes, and is " + std::to_string(off) +
            " bytes past such a boundary";
  } else if (matrix.stride % multiple != 0) {
    wrong = "the leading dimension must be a multiple of " + std::to_string(multiple) + " elements (" +
            std::to_string(row_bytes) + " bytes), not " + std::to_string(matrix.stride);
  } else {
    return;
  }
  report_failure(name + (": " + wrong), where);
  std::string().swap(wrong);  // nothing on an abandoned stack is destroyed
  abandon_thread();
}

void arrive(WarpOp op, MatrixStep& step) {
  warp_collective(op, kFullWarp, reinterpret_cast<std::uint64_t>(&step), 0, step.where());
}

}  // namespace

void load_fragment(const FragmentLayout& layout, void* elements, const MatrixView& matrix,
                   std::source_location where) {
  check_matrix("wmma::load_matrix_sync", layout, matrix, where);
  auto* const held = static_cast<std::byte*>(elements);
  MoveStep step(layout, matrix, where);
  arrive(WarpOp::load_matrix, step);
  step.load(held, __builtin_return_address(0), __builtin_dwarf_cfa());
  if (step.is_exchanged()) {
    arrive(WarpOp::load_matrix, step);
    step.take_exchanged(held);
  }
  const std::size_t bytes = std::size_t{held_elements(layout)} * bytes_of(layout.element);
  for (std::size_t i = 1; i < layout.duplicates; ++i) std::memcpy(held + i * bytes, held, bytes);
}

void store_fragment(const FragmentLayout& layout, const void* elements, const MatrixView& matrix,
                    std::source_location where) {
  check_matrix("wmma::store_matrix_sync", layout, matrix, where);
  const auto* const held = static_cast<const std::byte*>(elements);
  MoveStep step(layout, matrix, where);
  step.give_for_exchange(held);
  arrive(WarpOp::store_matrix, step);
  step.store(held, __builtin_return_address(0), __builtin_dwarf_cfa());
}

}  // namespace rooftile::simt::detail
