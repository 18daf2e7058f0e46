// Vectors of pairs, of q and k alike.
//
// Idea       a thread has the pairs of one or two vectors of 16 bytes at the same place of several heads: it makes their angles once, and has
//            half of the heads on their way at a time. Heads of q and k are one list.
// Change     16 bytes for each access; tokens are cut by heads, too, so that there are threads enough.
// Limits     heads that begin at multiples of 16 bytes, without gaps; the turned part is whole vectors, half of it in the half form.
// Bottleneck DRAM.
#include "rooftile/ops/rope/rungs/rope_device.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {
namespace {

// Heads that a thread turns by the angles that it has made, half of them on their way at once. 16-bit elements in the half form have two
// vectors and eight angles each: by fewer heads a thread has fewer registers, and a multiprocessor twice as many threads.
template <class T, bool kInterleaved>
inline constexpr int kHeadsOfThread = sizeof(T) == 2 && !kInterleaved ? 4 : 8;

// Pieces of a head: those that are turned first, then vectors that are copied.
struct Pieces {
  std::int64_t turned;
  std::int64_t all;
  std::int64_t groups;  // of heads
  std::int64_t count;   // threads

  template <class T, bool kInterleaved>
  static Pieces of(const Cut& cut) {
    constexpr std::int64_t kElements = kVecElements<T>;
    Pieces pieces{};
    pieces.turned = (kInterleaved ? cut.rotary : cut.pairs()) / kElements;
    pieces.all = pieces.turned + (cut.width - cut.rotary) / kElements;
    pieces.groups = ceil_div(cut.heads(), kHeadsOfThread<T, kInterleaved>);
    pieces.count = cut.batches * cut.tokens * pieces.groups * pieces.all;
    return pieces;
  }
};

template <class T, bool kInterleaved>
__global__ void __launch_bounds__(kBlock)
    vectorized_qk_kernel(Operands<T> call, Pieces pieces, Split by_pieces, Split by_groups, Split by_tokens,
                         const __grid_constant__ Turns turns) {
  constexpr int kElements = kVecElements<T>;
  constexpr int kAngles = kInterleaved ? kElements / 2 : kElements;
  constexpr int kHeadsInFlight = kHeadsOfThread<T, kInterleaved> / 2;
  using Vector = Vec<T, kElements>;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= pieces.count) return;
  const auto [rest, piece] = by_pieces(thread);
  const auto [token_of_all, group] = by_groups(rest);
  const auto [batch, token] = by_tokens(token_of_all);
  const bool is_turned = piece < pieces.turned;
  const std::int64_t low =
      is_turned ? piece * kElements : call.cut.rotary + (piece - pieces.turned) * kElements;
  const std::int64_t high = low + call.cut.rotary / 2;  // half: the other elements of the pairs
  const bool has_high = !kInterleaved && is_turned;
  Angle angles[kAngles];
  if (is_turned) {
    const double position = call.position(batch, token);
#pragma unroll
    for (int i = 0; i < kAngles; ++i)
      angles[i] = angle_of(position * turns.of[static_cast<std::size_t>(piece * kAngles + i)], call.inverse);
  }
  const std::int64_t heads = call.cut.heads();
  for (std::int64_t first = group; first < heads; first += kHeadsInFlight * pieces.groups) {
    Vector lows[kHeadsInFlight];
    Vector highs[kHeadsInFlight];
#pragma unroll
    for (int i = 0; i < kHeadsInFlight; ++i) {
      const std::int64_t h = first + i * pieces.groups;
      if (h >= heads) continue;
      const T* g_head = call.head(batch, token, h);
      lows[i] = load_vec(g_head + low);
      if (has_high) highs[i] = load_vec(g_head + high);
    }
#pragma unroll
    for (int i = 0; i < kHeadsInFlight; ++i) {
      const std::int64_t h = first + i * pieces.groups;
      if (h >= heads) continue;
      if (is_turned) {
#pragma unroll
        for (int a = 0; a < kAngles; ++a) {
          T& x = kInterleaved ? lows[i][2 * a] : lows[i][a];
          T& y = kInterleaved ? lows[i][2 * a + 1] : highs[i][a];
          const Pair pair = turned(static_cast<float>(x), static_cast<float>(y), angles[a]);
          x = rounded<T>(pair.a);
          y = rounded<T>(pair.b);
        }
      }
      T* g_head = call.target(batch, token, h);
      store_vec(g_head + low, lows[i]);
      if (has_high) store_vec(g_head + high, highs[i]);
    }
  }
}

template <class T, bool kInterleaved>
Status launch_form(const Call<RopeArgs>& call) {
  const Cut& cut = call.config<Cut>();
  const Pieces pieces = Pieces::of<T, kInterleaved>(cut);
  if (pieces.count == 0) return {};
  LaunchConfig config;
  ROOFTILE_TRY(launch_config(pieces.count, call.stream, config));
  return launch(vectorized_qk_kernel<T, kInterleaved>, config, operands_of<T>(call), pieces,
                Split::of(pieces.all), Split::of(pieces.groups), Split::of(cut.tokens),
                rope_plan::turns_of(call.args));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() {
    return call.args.form == RopeForm::interleaved ? launch_form<T, true>(call) : launch_form<T, false>(call);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
