#include "rooftile/sim/matrix_rows.h"

#include <cstring>

#include "rooftile/sim/matrix_tile.h"
#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/watcher.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kMostMatrices = 4;

// Whether the lane names a row of its own.
bool has_row(const MatrixRows& rows, unsigned lane) { return lane < kTileLines * rows.matrices; }

class RowsStep : public MatrixStep {
 public:
  RowsStep(const MatrixRows& rows, std::source_location where) : MatrixStep(where), rows_(rows) {}
  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    return rows_ == static_cast<const RowsStep&>(other).rows_;
  }
  [[nodiscard]] const MatrixRows& rows() const { return rows_; }

  void arrive(WarpOp op) {
    warp_collective(op, 0xffffffffu, reinterpret_cast<std::uint64_t>(static_cast<MatrixStep*>(this)), 0,
                    where());
  }

 private:
  const MatrixRows rows_;
};

// Of loads, the second time in a watched launch: the lanes' accesses are told in between.
class LoadStep final : public RowsStep {
 public:
  LoadStep(const void* s_row, const MatrixRows& rows, std::source_location where)
      : RowsStep(rows, where), s_row_(s_row) {}
  void run(MatrixStep* const* lanes) override {
    if (!moves) return;
    const auto step = [&](unsigned lane) { return static_cast<LoadStep*>(lanes[lane]); };
    for (unsigned matrix = 0; matrix < rows().matrices; ++matrix) {
      MatrixTile tile;
      for (unsigned row = 0; row < kTileLines; ++row) {
        std::memcpy(tile[row].data(), step(matrix * kTileLines + row)->s_row_, kRowBytes);
      }
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        step(lane)->registers[matrix] =
            tile_word(tile, lane / kTileRuns, lane % kTileRuns, rows().transposed);
      }
    }
  }
  std::uint32_t registers[kMostMatrices];
  bool moves = false;

 private:
  const void* const s_row_;
};

class StoreStep final : public RowsStep {
 public:
  StoreStep(const std::uint32_t* registers, const MatrixRows& rows, std::source_location where)
      : RowsStep(rows, where), registers_(registers) {}
  void run(MatrixStep* const* lanes) override {
    const auto step = [&](unsigned lane) { return static_cast<StoreStep*>(lanes[lane]); };
    for (unsigned matrix = 0; matrix < rows().matrices; ++matrix) {
      MatrixTile held;  // as the lanes hold it
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        held[lane / kTileRuns][lane % kTileRuns] = step(lane)->registers_[matrix];
      }
      for (unsigned row = 0; row < kTileLines; ++row) {
        for (unsigned word = 0; word < kRowWords; ++word) {
          step(matrix * kTileLines + row)->own_row[word] = tile_word(held, row, word, rows().transposed);
        }
      }
    }
  }
  std::uint32_t own_row[kRowWords];

 private:
  const std::uint32_t* const registers_;
};

}  // namespace

void load_matrix_rows(std::uint32_t* registers, const void* s_row, const MatrixRows& rows,
                      std::source_location where) {
  const bool reads = has_row(rows, current_thread->lane);
  if (reads) check_shared("ldmatrix", s_row, kRowBytes, kRowBytes, where);
  LoadStep step(s_row, rows, where);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    step.arrive(WarpOp::ldmatrix);
    if (reads) {
      watcher->accessed({s_row, kRowBytes}, false, true, __builtin_return_address(0), __builtin_dwarf_cfa());
    }
  }
  step.moves = true;
  step.arrive(WarpOp::ldmatrix);
  std::memcpy(registers, step.registers, rows.matrices * sizeof(std::uint32_t));
}

void store_matrix_rows(void* s_row, const std::uint32_t* registers, const MatrixRows& rows,
                       std::source_location where) {
  const bool writes = has_row(rows, current_thread->lane);
  if (writes) check_shared("stmatrix", s_row, kRowBytes, kRowBytes, where);
  StoreStep step(registers, rows, where);
  step.arrive(WarpOp::stmatrix);
  if (!writes) return;
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->accessed({s_row, kRowBytes}, true, true, __builtin_return_address(0), __builtin_dwarf_cfa());
  }
  std::memcpy(s_row, step.own_row, kRowBytes);
}

}  // namespace rooftile::simt::detail
