// Rows split over blocks of their own.
//
// Idea       each of a few rows has some blocks, which keep their parts in registers; what a part found is one word in global memory, and
//            one warp of each block waits for the words of its row.
// Change     all rows are asked for at once, and a row waits for its own blocks alone, in place of all multiprocessors.
// Limits     a cooperative launch, up to two blocks for each multiprocessor; rows from 4 KiB on, at one stride; no residual;
//            32 bytes of a row for each thread, 64 or 128 where there are more rows or longer ones: 16 MiB of 132 multiprocessors in one launch,
//            of rows that are whole less where weight and bias of a block's part leave room for one block alone (rows of more than 4 MiB);
//            more rows are further launches; a row of 128 blocks at most.
// Bottleneck launch, the way there and back, and one meeting between them, some 1 us.
// Source     NVIDIA Apex, contrib/csrc/layer_norm (CTAS_PER_ROW).
#include "rooftile/families/norm/rungs/split_rows.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) { return norm::launch_split_rows<norm::Uncentred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
