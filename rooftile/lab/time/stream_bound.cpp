#include "rooftile/lab/time/stream_bound.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace rooftile::lab {
namespace {

constexpr std::size_t kVectorBytes = 16;
constexpr double kNegligible = 1.0 / 256.0;
constexpr std::size_t kSinkBytes = 256;
constexpr std::size_t kSmall = std::size_t{32} << 20;
constexpr std::size_t kVeryLarge = std::size_t{1} << 30;
constexpr std::size_t kSmallestChunk = std::size_t{256} << 10;  // waking a thread costs more than moving less

using Vector = std::uint64_t __attribute__((vector_size(32)));

// XOR over 8 independent chains of 32 bytes, so that loads and not the chain decide.
std::uint64_t read_all(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kChains = 8;
  constexpr std::size_t kStep = kChains * sizeof(Vector);
  Vector chains[kChains] = {};
  std::size_t at = 0;
  for (; at + kStep <= bytes; at += kStep) {
    for (std::size_t i = 0; i < kChains; ++i) {
      Vector loaded;
      std::memcpy(&loaded, data + at + i * sizeof(Vector), sizeof(Vector));
      chains[i] ^= loaded;
    }
  }
  std::uint64_t folded = 0;
  for (; at < bytes; ++at) folded ^= static_cast<std::uint64_t>(data[at]);
  for (const Vector& chain : chains) folded ^= chain[0] ^ chain[1] ^ chain[2] ^ chain[3];
  return folded;
}

// Each chunk copies what its two sides share, then reads or writes the rest. memcpy and memset pick
// non-temporal stores by their own thresholds.
Status stream_bound_cpu(const DeviceMemory& source, const DeviceMemory& target, const DeviceMemory& sink) {
  const std::size_t threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  const std::size_t chunks =
      std::clamp<std::size_t>((source.bytes() + target.bytes()) / kSmallestChunk, 1, threads);
  const auto part = [chunks](std::size_t bytes, std::size_t i) {
    return bytes / kVectorBytes * i / chunks * kVectorBytes;
  };
  const auto* from = static_cast<const std::byte*>(source.data());
  auto* to = static_cast<std::byte*>(target.data());
  tbb::parallel_for(
      std::size_t{0}, chunks,
      [&](std::size_t i) {
        const std::size_t read_first = part(source.bytes(), i);
        const std::size_t write_first = part(target.bytes(), i);
        const std::size_t read = part(source.bytes(), i + 1) - read_first;
        const std::size_t write = part(target.bytes(), i + 1) - write_first;
        const std::size_t copied = std::min(read, write);
        if (copied > 0) std::memcpy(to + write_first, from + read_first, copied);
        if (write > copied) std::memset(to + write_first + copied, 0x11, write - copied);
        if (read > copied) {
          const std::uint64_t folded = read_all(from + read_first + copied, read - copied);
          // The source is all 0x01 bytes: this never stores, but the compiler cannot know.
          if (folded == 0x5DEECE66Du) *static_cast<std::uint64_t*>(sink.data()) = folded;
        }
      },
      tbb::static_partitioner());
  return {};
}

constexpr std::array kNames = {
    std::pair{StreamAccess::cached_x4, std::string_view("cached_x4")},
    std::pair{StreamAccess::cached_x2, std::string_view("cached_x2")},
    std::pair{StreamAccess::cached_x1, std::string_view("cached_x1")},
    std::pair{StreamAccess::small_blocks_x2, std::string_view("small_blocks_x2")},
    std::pair{StreamAccess::small_blocks_x1, std::string_view("small_blocks_x1")},
    std::pair{StreamAccess::small_blocks_x4, std::string_view("small_blocks_x4")},
    std::pair{StreamAccess::two_sources, std::string_view("two_sources")},
    std::pair{StreamAccess::two_sources_wide, std::string_view("two_sources_wide")},
    std::pair{StreamAccess::no_allocate_x4, std::string_view("no_allocate_x4")},
    std::pair{StreamAccess::no_allocate_x2, std::string_view("no_allocate_x2")},
    std::pair{StreamAccess::evict_first_x2, std::string_view("evict_first_x2")},
    std::pair{StreamAccess::streaming_stores_x4, std::string_view("streaming_stores_x4")},
    std::pair{StreamAccess::runtime, std::string_view("runtime")},
};

std::vector<StreamAccess> worth_trying(Device device, std::size_t reads, std::size_t writes) {
  using enum StreamAccess;
  if (device.kind != DeviceKind::cuda) return {cached_x4};
  if (writes == 0) return {cached_x1, cached_x2, cached_x4, no_allocate_x2, no_allocate_x4, evict_first_x2};
  if (reads == 0) return {cached_x1, cached_x4, streaming_stores_x4, runtime};
  std::vector<StreamAccess> ways = {cached_x1,       cached_x2,      cached_x4,      small_blocks_x1,
                                    small_blocks_x2, no_allocate_x2, no_allocate_x4, streaming_stores_x4};
  if (reads == writes) ways.push_back(runtime);
  if (reads + writes <= kSmall) ways.push_back(small_blocks_x4);
  if (reads == 2 * writes) ways.push_back(reads + writes < kVeryLarge ? two_sources : two_sources_wide);
  return ways;
}

}  // namespace

std::string_view to_string(StreamAccess access) {
  for (const auto& [value, name] : kNames) {
    if (value == access) return name;
  }
  return "";
}

Result<StreamBound> StreamBound::create(StreamRef stream, double read_bytes, double write_bytes) {
  const double larger = std::max(read_bytes, write_bytes);
  if (!(larger > 0.0)) return unsupported("a case of no bytes has no streaming bound");
  const auto rounded = [larger](double bytes) {
    if (bytes < larger * kNegligible) return std::size_t{0};
    return static_cast<std::size_t>(std::ceil(bytes / kVectorBytes)) * kVectorBytes;
  };
  StreamBound bound;
  ROOFTILE_TRY_ASSIGN(bound.source_, DeviceMemory::allocate(stream.device, rounded(read_bytes)));
  ROOFTILE_TRY_ASSIGN(bound.target_, DeviceMemory::allocate(stream.device, rounded(write_bytes)));
  ROOFTILE_TRY_ASSIGN(bound.sink_, DeviceMemory::allocate(stream.device, kSinkBytes));
  for (const DeviceMemory* memory : {&bound.source_, &bound.target_}) {
    if (memory->bytes() > 0) ROOFTILE_TRY(fill_bytes(stream, memory->data(), 0x01, memory->bytes()));
  }
  ROOFTILE_TRY(synchronize(stream));
  bound.accesses_ = worth_trying(stream.device, bound.source_.bytes(), bound.target_.bytes());
  return bound;
}

Status StreamBound::launch(StreamRef stream, StreamAccess access) const {
  if (stream.device.kind != DeviceKind::cuda) return stream_bound_cpu(source_, target_, sink_);
  if (access == StreamAccess::runtime) {
    if (source_.bytes() == 0) return fill_bytes(stream, target_.data(), 0x11, target_.bytes());
    return copy(stream, target_.data(), stream.device, source_.data(), stream.device, target_.bytes());
  }
  return stream_bound_cuda(stream, access, source_.data(), source_.bytes(), target_.data(), target_.bytes(),
                           sink_.data());
}

Status StreamBound::check(StreamRef stream, const std::function<Status()>& run) const {
  constexpr std::size_t kWindow = std::size_t{64} << 10;
  constexpr int kUntouched = 0x77;
  if (target_.bytes() == 0) return run();
  ROOFTILE_TRY(fill_bytes(stream, target_.data(), kUntouched, target_.bytes()));
  ROOFTILE_TRY(run());
  const std::size_t bytes = std::min(kWindow, target_.bytes());
  std::vector<std::byte> window(bytes);
  for (const std::size_t at : {std::size_t{0}, (target_.bytes() - bytes) / 2, target_.bytes() - bytes}) {
    ROOFTILE_TRY(copy(stream, window.data(), kCpu, static_cast<const std::byte*>(target_.data()) + at,
                      stream.device, bytes));
    ROOFTILE_TRY(synchronize(stream));
    const auto untouched = std::find(window.begin(), window.end(), std::byte{kUntouched});
    if (untouched != window.end()) {
      return internal_error("the streaming bound leaves byte " +
                            std::to_string(at + static_cast<std::size_t>(untouched - window.begin())) +
                            " unwritten");
    }
  }
  return {};
}

}  // namespace rooftile::lab
