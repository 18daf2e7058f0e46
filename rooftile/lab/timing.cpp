#include "rooftile/lab/timing.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "rooftile/lab/problem.h"

namespace rooftile::lab {
namespace {

constexpr std::size_t kSmallestFlush = std::size_t{128} << 20;
// A virtual machine may report the last-level cache of a whole socket: no more than this is walked on the
// host.
constexpr std::size_t kLargestHostFlush = std::size_t{256} << 20;
constexpr std::size_t kCacheLine = 64;

struct EventPair {
  Event start;
  Event stop;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status record_one(StreamRef stream, const TimedLaunch& launch, const CacheFlush* flush, EventPair& events) {
  if (flush != nullptr) ROOFTILE_TRY(flush->run(stream));
  ROOFTILE_TRY(events.start.record(stream));
  const Status status = launch.launch();
  ROOFTILE_TRY(events.stop.record(stream));
  return status;
}

}  // namespace

std::string_view to_string(TimeMode mode) {
  return mode == TimeMode::stream_cold ? "stream-cold" : "stream-hot";
}

Result<TimeMode> parse_time_mode(std::string_view text) {
  for (const TimeMode mode : {TimeMode::stream_cold, TimeMode::stream_hot}) {
    if (to_string(mode) == text) return mode;
  }
  return invalid_argument(fmt::format("unknown mode '{}': choose stream-cold or stream-hot", text));
}

Result<CacheFlush> CacheFlush::create(StreamRef stream, const DeviceProperties& device) {
  CacheFlush flush;
  std::size_t bytes = std::max(2 * device.last_level_cache, kSmallestFlush);
  if (stream.device.kind != DeviceKind::cuda && bytes > kLargestHostFlush) {
    bytes = kLargestHostFlush;
    flush.caveat_ = fmt::format("cold (partial): the flush walks {} of a reported {} last-level cache",
                                format_bytes(static_cast<double>(bytes)),
                                format_bytes(static_cast<double>(device.last_level_cache)));
  }
  ROOFTILE_TRY_ASSIGN(flush.buffer_, DeviceMemory::allocate(stream.device, bytes));
  return flush;
}

Status CacheFlush::run(StreamRef stream) const {
  if (stream.device.kind == DeviceKind::cuda)
    return fill_bytes(stream, buffer_.data(), 0x3C, buffer_.bytes());
  auto* bytes = static_cast<unsigned char*>(buffer_.data());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, buffer_.bytes() / kCacheLine, 1 << 14),
                    [&](const auto& lines) {
                      for (std::size_t line = lines.begin(); line != lines.end(); ++line) {
                        volatile unsigned char* byte = bytes + line * kCacheLine;
                        *byte = static_cast<unsigned char>(*byte + 1);
                      }
                    });
  return {};
}

Result<std::vector<TimeSeries>> time_interleaved(StreamRef stream, const DeviceProperties& device,
                                                 const std::vector<TimedLaunch>& launches,
                                                 const TimingOptions& options, std::string* caveat) {
  std::vector<TimeSeries> series(launches.size());
  CacheFlush flush;
  const bool cold = options.mode == TimeMode::stream_cold;
  if (cold) {
    ROOFTILE_TRY_ASSIGN(flush, CacheFlush::create(stream, device));
    if (caveat != nullptr) *caveat = flush.caveat();
  }
  std::vector<EventPair> events(launches.size());
  for (EventPair& pair : events) {
    ROOFTILE_TRY_ASSIGN(pair.start, Event::create(stream.device));
    ROOFTILE_TRY_ASSIGN(pair.stop, Event::create(stream.device));
  }

  const auto start = std::chrono::steady_clock::now();
  // Round -1 warms up: lazily loaded kernels, page tables, the thread pool. Its samples are dropped.
  for (int round = -1; round < options.max_samples; ++round) {
    if (round >= options.min_samples && seconds_since(start) >= options.budget_s) break;
    // Half of the budget beyond itself is the most that a slow ladder may take to reach min_samples.
    if (round >= 3 && seconds_since(start) >= 1.5 * options.budget_s) break;
    if (options.on_round) options.on_round(std::max(round, 0), options.max_samples);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::size_t at = round % 2 == 0 ? i : launches.size() - 1 - i;
      if (!series[at].status.ok()) continue;
      series[at].status = record_one(stream, launches[at], cold ? &flush : nullptr, events[at]);
    }
    ROOFTILE_TRY(synchronize(stream));
    for (std::size_t i = 0; round >= 0 && i < launches.size(); ++i) {
      if (!series[i].status.ok()) continue;
      ROOFTILE_TRY_ASSIGN(const double elapsed_us, events[i].stop.elapsed_us_since(events[i].start));
      series[i].samples_us.push_back(elapsed_us);
    }
  }
  for (TimeSeries& one : series) {
    if (!one.status.ok()) one.samples_us.clear();
  }
  return series;
}

}  // namespace rooftile::lab
