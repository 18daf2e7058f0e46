// Cooperative groups: what every thread of every kind of group is told, against the group's members listed
// here one by one.
#include <algorithm>
#include <map>
#include <numeric>

#include "tests/sim/group_kernels.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

class Groups : public EveryOrder {};
INSTANTIATE_TEST_SUITE_P(Sim, Groups, ::testing::ValuesIn(kSchedules), schedule_name);

// The name of the thread's group in its warp's or tile's parts, and the part's among those beside it.
struct Key {
  unsigned parent;  // the tile or warp that was partitioned, by its first thread
  unsigned label;
  unsigned sub_label;
  friend auto operator<=>(const Key&, const Key&) = default;
};

unsigned odd(int value) { return static_cast<unsigned>(value & 1); }

std::map<Key, std::vector<unsigned>> members_of(GroupKind kind, const std::vector<int>& in) {
  std::map<Key, std::vector<unsigned>> groups;
  std::map<Key, unsigned> ranks;  // in groups that are split again
  for (unsigned t = 0; t < in.size(); ++t) {
    const unsigned warp = t / 32;
    const unsigned label = t % 32 % 3;
    Key key{};
    switch (kind) {
      case GroupKind::tile_of_32:
        key = {0, t / 32, 0};
        break;
      case GroupKind::tile_of_8:
        key = {0, t / 8, 0};
        break;
      case GroupKind::tile_of_4_of_16:
        key = {t / 16, t / 4, 0};
        break;
      case GroupKind::labels:
        key = {warp, label, 0};
        break;
      case GroupKind::labels_of_tile:
        key = {t / 8, label, 0};
        break;
      case GroupKind::odd_values:
        key = {warp, odd(in[t]), 0};
        break;
      case GroupKind::all_agree:
        key = {warp, 0, 0};
        break;
      case GroupKind::odd_of_labels:
        key = {3 * warp + label, odd(in[t]), 0};
        break;
      case GroupKind::fours_of_labels:
        key = {3 * warp + label, ranks[{warp, label, 0}]++ / 4, 0};
        break;
    }
    groups[key].push_back(t);
  }
  return groups;
}

// Labelled groups are ranked by their first threads; groups by a predicate and tiles by what they are.
void expect_meta(GroupKind kind, const std::map<Key, std::vector<unsigned>>& groups, const Key& key,
                 const GroupFacts& got) {
  std::vector<std::pair<unsigned, Key>> siblings;
  for (const auto& [other, members] : groups) {
    if (other.parent == key.parent) siblings.emplace_back(members.front(), other);
  }
  const bool by_label = kind == GroupKind::labels || kind == GroupKind::labels_of_tile;
  if (by_label) std::sort(siblings.begin(), siblings.end());
  const auto own =
      std::find_if(siblings.begin(), siblings.end(), [&](const auto& s) { return s.second == key; });
  EXPECT_EQ(got.meta_rank, static_cast<unsigned>(own - siblings.begin()));
  EXPECT_EQ(got.meta_size, siblings.size());
}

void expect_facts(const std::vector<int>& in, const std::vector<unsigned>& members, std::size_t rank,
                  const GroupFacts& got) {
  const auto value = [&](std::size_t r) { return in[members[r]]; };
  const int own = value(rank);
  const std::size_t size = members.size();
  EXPECT_EQ(got.size, size);
  EXPECT_EQ(got.rank, rank);
  EXPECT_EQ(got.from_last, value(size - 1));
  EXPECT_EQ(got.up, rank >= 2 ? value(rank - 2) : own);
  EXPECT_EQ(got.down, rank + 3 < size ? value(rank + 3) : own);
  GroupFacts expected{};
  expected.all = 1;
  expected.matches_all = 1;
  expected.lowest = own;
  expected.highest = own;
  expected.all_bits = ~0u;
  expected.inclusive_product_sign = 1;
  for (std::size_t r = 0; r < size; ++r) {
    const int v = value(r);
    const unsigned bit = 1u << r;
    expected.ballot |= v > 0 ? bit : 0;
    expected.any |= v > 8 ? 1 : 0;
    expected.all &= v > -8 ? 1 : 0;
    expected.match_any |= (v & 3) == (own & 3) ? bit : 0;
    expected.matches_all &= (v & 4) == (own & 4) ? 1 : 0;
    expected.match_all |= bit;
    expected.sum += v;
    expected.lowest = std::min(expected.lowest, v);
    expected.highest = std::max(expected.highest, v);
    expected.all_bits &= static_cast<unsigned>(v);
    expected.any_bits |= static_cast<unsigned>(v);
    expected.odd_bits ^= static_cast<unsigned>(v);
    if (r < rank) expected.exclusive += v;
    if (r <= rank) expected.inclusive += v;
    if (r <= rank && v < 0) expected.inclusive_product_sign *= -1;
  }
  EXPECT_EQ(got.ballot, expected.ballot);
  EXPECT_EQ(got.any, expected.any);
  EXPECT_EQ(got.all, expected.all);
  EXPECT_EQ(got.match_any, expected.match_any);
  EXPECT_EQ(got.matches_all, expected.matches_all);
  EXPECT_EQ(got.match_all, expected.matches_all != 0 ? expected.match_all : 0);
  EXPECT_EQ(got.sum, expected.sum);
  EXPECT_EQ(got.lowest, expected.lowest);
  EXPECT_EQ(got.highest, expected.highest);
  EXPECT_EQ(got.all_bits, expected.all_bits);
  EXPECT_EQ(got.any_bits, expected.any_bits);
  EXPECT_EQ(got.odd_bits, expected.odd_bits);
  EXPECT_EQ(got.inclusive, expected.inclusive);
  EXPECT_EQ(got.exclusive, expected.exclusive);
  EXPECT_EQ(got.inclusive_product_sign, expected.inclusive_product_sign);
  // Down by one, then up by one: the first keeps what came from the second, which the last had kept.
  const int wide = rank > 0 ? own : value(std::min<std::size_t>(1, size - 1));
  EXPECT_EQ(got.wide[0], wide + 0.25);
  EXPECT_EQ(got.wide[1], wide * 1e10);
  EXPECT_EQ(got.wide[2], -1.0 * wide);
}

TEST_P(Groups, TellEveryThreadOfItsMembers) {
  constexpr unsigned kThreads = 96;
  std::vector<int> in(kThreads);
  for (unsigned t = 0; t < kThreads; ++t) in[t] = static_cast<int>(t * 37 % 23) - 11;
  for (unsigned t = 32; t < 64; ++t) in[t] = 4 + static_cast<int>(t % 2) * 8;  // where all agree of much
  for (const GroupKind kind : {GroupKind::tile_of_32, GroupKind::tile_of_8, GroupKind::tile_of_4_of_16,
                               GroupKind::labels, GroupKind::labels_of_tile, GroupKind::odd_values,
                               GroupKind::all_agree, GroupKind::odd_of_labels, GroupKind::fours_of_labels}) {
    std::vector<GroupFacts> out(kThreads);
    ASSERT_TRUE(is_ok(run_group_facts(kStream, kind, kThreads, in.data(), out.data())));
    const auto groups = members_of(kind, in);
    for (const auto& [key, members] : groups) {
      for (std::size_t rank = 0; rank < members.size(); ++rank) {
        SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", thread " +
                     std::to_string(members[rank]));
        expect_facts(in, members, rank, out[members[rank]]);
        expect_meta(kind, groups, key, out[members[rank]]);
      }
    }
  }
}

TEST_P(Groups, CoalescedThreadsAreThoseOfTheBranch) {
  std::vector<CoalescedFacts> out(32);
  unsigned members = 0;
  ASSERT_TRUE(is_ok(run_coalesced(kStream, out.data(), &members)));
  EXPECT_EQ(members, 11u);
  for (unsigned lane = 0; lane < 32; lane += 3) {
    EXPECT_EQ(out[lane].rank, lane / 3);
    EXPECT_EQ(out[lane].size, 11u);
    EXPECT_EQ(out[lane].sum_of_ones, out[lane].size);
    EXPECT_EQ(out[lane].first_lane, 0u);
  }
}

TEST_P(Groups, ThreadGroupsAreKnownAtRunTime) {
  constexpr unsigned kThreads = 96;
  for (const unsigned tile : {1u, 4u, 16u, 32u}) {
    std::vector<ThreadGroupFacts> out(kThreads);
    unsigned tickets[2] = {};
    ASSERT_TRUE(is_ok(run_thread_groups(kStream, kThreads, tile, out.data(), tickets)));
    EXPECT_EQ(tickets[0], 3u);
    EXPECT_EQ(tickets[1], 3u);
    std::vector<unsigned> of_warp;
    for (unsigned t = 0; t < kThreads; ++t) {
      const unsigned first = t / tile * tile;
      EXPECT_EQ(out[t].block_size, kThreads);
      EXPECT_EQ(out[t].block_rank, t);
      EXPECT_EQ(out[t].tile_size, tile);
      EXPECT_EQ(out[t].tile_rank, t - first);
      EXPECT_EQ(out[t].tile_sum, tile * first + tile * (tile - 1) / 2);
      EXPECT_EQ(out[t].tickets, out[t - t % 32].tickets);
      if (t % 32 == 0) of_warp.push_back(out[t].tickets);
    }
    std::sort(of_warp.begin(), of_warp.end());
    EXPECT_EQ(of_warp, (std::vector<unsigned>{100, 101, 102}));
  }
}

TEST_P(Groups, Clusters) {
  constexpr unsigned kThreads = 40;
  for (const unsigned blocks : {1u, 2u, 4u}) {
    std::vector<ClusterFacts> out(std::size_t{2} * blocks * kThreads);
    ASSERT_TRUE(is_ok(run_cluster_group(kStream, 2, blocks, kThreads, out.data())));
    for (unsigned i = 0; i < out.size(); ++i) {
      const unsigned block = i / kThreads;
      const unsigned cluster = block / blocks;
      const unsigned rank = block % blocks;
      EXPECT_EQ(out[i].block_rank, rank);
      EXPECT_EQ(out[i].blocks, blocks);
      EXPECT_EQ(out[i].rank, rank * kThreads + i % kThreads);
      EXPECT_EQ(out[i].threads, blocks * kThreads);
      EXPECT_EQ(out[i].block_index, rank);
      EXPECT_EQ(out[i].thread_index, rank * kThreads + i % kThreads);
      EXPECT_EQ(out[i].block_extent, blocks);
      EXPECT_EQ(out[i].thread_extent, blocks * kThreads);
      EXPECT_EQ(out[i].block_of_grid, block);
      EXPECT_EQ(out[i].blocks_of_grid, 2 * blocks);
      EXPECT_EQ(out[i].neighbour, 1000 + cluster * blocks + (rank + 1) % blocks);
    }
  }
}

TEST_P(Groups, CopiesArriveAtTheWaitAndNotBefore) {
  alignas(16) unsigned char in[1040];
  std::iota(std::begin(in), std::end(in), static_cast<unsigned char>(1));
  for (const GroupCopyKind kind : {GroupCopyKind::block, GroupCopyKind::tile, GroupCopyKind::labels,
                                   GroupCopyKind::elements, GroupCopyKind::two_of_which_one_waited}) {
    for (const unsigned offset : {0u, 4u, 8u}) {
      for (const unsigned bytes : {8u, 40u, 512u, 1000u}) {
        std::vector<unsigned char> out(1024, 0xcc);
        std::vector<unsigned char> early(64, 0xdd);
        ASSERT_TRUE(is_ok(run_group_copy(kStream, kind, bytes, offset, in, out.data(), early.data())));
        EXPECT_TRUE(std::equal(in + offset, in + offset + bytes, out.begin()))
            << static_cast<int>(kind) << " of " << bytes << " at " << offset;
        EXPECT_EQ(out[bytes], 0xee);
        EXPECT_EQ(out[bytes + 1], 0xcc);
        const std::size_t copies_it = kind == GroupCopyKind::labels ? 1 : 0;
        EXPECT_EQ(early[copies_it], 0xee) << static_cast<int>(kind) << " of " << bytes << " at " << offset;
      }
    }
  }
}

// What cp.async does not copy: bytes and halves.
TEST_P(Groups, NarrowCopiesAreDoneAtOnce) {
  alignas(16) unsigned char in[1040];
  std::iota(std::begin(in), std::end(in), static_cast<unsigned char>(1));
  for (const unsigned offset : {1u, 2u, 3u}) {
    for (const unsigned bytes : {1u, 66u, 513u}) {
      std::vector<unsigned char> out(1024, 0xcc);
      std::vector<unsigned char> early(64);
      ASSERT_TRUE(
          is_ok(run_group_copy(kStream, GroupCopyKind::block, bytes, offset, in, out.data(), early.data())));
      EXPECT_TRUE(std::equal(in + offset, in + offset + bytes, out.begin())) << bytes << " at " << offset;
      EXPECT_EQ(out[bytes], 0xee);
      EXPECT_EQ(out[bytes + 1], 0xcc);
      EXPECT_EQ(early[0], in[offset]);  // thread 0 has copied the first
    }
  }
}

TEST_P(Groups, MisuseIsNamed) {
  use(GetParam(), std::chrono::milliseconds(150));
  const Status outside = run_group_misuse(kStream, GroupMisuse::rank_outside);
  EXPECT_TRUE(mentions(outside, "a shuffle from rank 12 of a coalesced_group of 1"));
  EXPECT_TRUE(mentions(outside, "group_kernels.cu:"));
  const Status tile = run_group_misuse(kStream, GroupMisuse::tile_of_three);
  EXPECT_TRUE(mentions(tile, "tiled_partition: a tile has 1, 2, 4, 8, 16 or 32 threads, not 3"));
  EXPECT_TRUE(mentions(tile, "group_kernels.cu:"));
}

}  // namespace
}  // namespace rooftile::sim_testing
