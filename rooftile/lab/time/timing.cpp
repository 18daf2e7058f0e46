#include "rooftile/lab/time/timing.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "rooftile/core/philox.h"
#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/time/gpu_clock.h"

namespace rooftile::lab {
namespace {

constexpr std::size_t kSmallestFlush = std::size_t{128} << 20;
// A virtual machine may report the last-level cache of a
// whole socket: no more than this is walked on the host.
constexpr std::size_t kLargestHostFlush = std::size_t{256} << 20;
constexpr std::size_t kCacheLine = 64;

// In hot modes nothing but the launches keeps the GPU busy: held back for this long per launch while the host
// enqueues them, so that no event pair holds the host's own time.
constexpr double kHoldUs = 25.0;

// On an H200 the first three launches after an idle device take 0.3 us longer than those that follow, and the
// last before it idles up to 0.2 us less, whether or not the host is ahead: so many of each run untimed
// around the timed ones, unless launches take so long that it cannot be seen.
constexpr std::size_t kLeadIn = 4;
constexpr std::size_t kTail = 1;
constexpr double kPaddedUs = 500.0;

// Two graphs of one launch differ by up to 5 % of 7 us, the later
// made being the slower one: several of each, made in turns.
constexpr unsigned kGraphsPerLaunch = 4;

constexpr std::uint64_t kOrderSeed = 1;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Fisher and Yates, by Philox: the same orders in every run of the program.
void shuffle(std::vector<std::size_t>& order, std::uint64_t round) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const PhiloxCounter words = philox4x32_10(philox_counter(i, round), philox_key(kOrderSeed));
    std::swap(order[i - 1], order[static_cast<std::size_t>((std::uint64_t{words.x} * i) >> 32)]);
  }
}

}  // namespace

std::string_view to_string(TimeMode mode) {
  switch (mode) {
    case TimeMode::stream_cold:
      return "stream-cold";
    case TimeMode::stream_hot:
      return "stream-hot";
    case TimeMode::graph_cold:
      return "graph-cold";
    case TimeMode::graph_hot:
      return "graph-hot";
  }
  return "stream-cold";
}

Result<TimeMode> parse_time_mode(std::string_view text) {
  for (const TimeMode mode :
       {TimeMode::stream_cold, TimeMode::stream_hot, TimeMode::graph_cold, TimeMode::graph_hot}) {
    if (to_string(mode) == text) return mode;
  }
  return invalid_argument(
      fmt::format("unknown mode '{}': choose stream-cold, stream-hot, graph-cold or graph-hot", text));
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

Result<Stopwatch> Stopwatch::create(StreamRef stream, const DeviceProperties& device,
                                    const std::vector<TimedLaunch>& launches, TimeMode mode) {
  if (uses_graph(mode) && stream.device.kind != DeviceKind::cuda) {
    return invalid_argument(fmt::format("{} needs a GPU, {} has no graphs: choose stream-cold or stream-hot",
                                        to_string(mode), to_string(stream.device)));
  }
  Stopwatch watch;
  watch.stream_ = stream;
  watch.mode_ = mode;
  watch.launches_ = launches;
  watch.statuses_.resize(launches.size());
  if (stream.device.kind == DeviceKind::cpu) watch.pinned_ = std::make_unique<PinnedThreads>();
  if (is_cold(mode)) {
    ROOFTILE_TRY_ASSIGN(watch.flush_, CacheFlush::create(stream, device));
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    watch.statuses_[i] = launches[i].launch();
    if (watch.statuses_[i].ok()) watch.statuses_[i] = synchronize(stream);
  }
  if (uses_graph(mode)) watch.capture_all();
  return watch;
}

// Forth or back by the sequence of Thue and Morse, so that no launch has the earlier graphs.
void Stopwatch::capture_all() {
  const std::size_t count = launches_.size();
  graphs_.resize(count);
  for (unsigned graph = 0; graph < kGraphsPerLaunch; ++graph) {
    const bool back = std::popcount(graph) % 2 == 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t launch = back ? count - 1 - i : i;
      if (statuses_[launch].ok()) statuses_[launch] = capture(launch);
    }
  }
}

Status Stopwatch::capture(std::size_t launch) {
  ROOFTILE_TRY_ASSIGN(const Graph graph, Graph::capture(stream_, launches_[launch].launch));
  ROOFTILE_TRY_ASSIGN(GraphExec exec, GraphExec::instantiate(graph));
  ROOFTILE_TRY(exec.launch(stream_));
  graphs_[launch].push_back(std::move(exec));
  return synchronize(stream_);
}

Status Stopwatch::start_one(std::size_t launch) const {
  return uses_graph(mode_) ? graphs_[launch][turn_ % kGraphsPerLaunch].launch(stream_)
                           : launches_[launch].launch();
}

Status Stopwatch::time_one(std::size_t launch, EventPair& events) const {
  ROOFTILE_TRY(is_cold(mode_) ? flush_.run(stream_) : start_one(launch));
  ROOFTILE_TRY(events.start.record(stream_));
  const Status status = start_one(launch);
  ROOFTILE_TRY(events.stop.record(stream_));
  return status;
}

Status Stopwatch::grow_events(std::size_t count) {
  while (events_.size() < count) {
    EventPair pair;
    ROOFTILE_TRY_ASSIGN(pair.start, Event::create(stream_.device));
    ROOFTILE_TRY_ASSIGN(pair.stop, Event::create(stream_.device));
    events_.push_back(std::move(pair));
  }
  return {};
}

void Stopwatch::pad(std::span<const std::size_t> order, std::size_t count) {
  for (std::size_t i = 0; i < count && !order.empty(); ++i) {
    Status& status = statuses_[order[i % order.size()]];
    if (status.ok()) status = time_one(order[i % order.size()], events_.back());
  }
}

Result<std::vector<double>> Stopwatch::run(std::span<const std::size_t> order) {
  ROOFTILE_TRY(grow_events(order.size() + 1));
  const bool padded = stream_.device.kind == DeviceKind::cuda && longest_us_ < kPaddedUs;
  if (stream_.device.kind == DeviceKind::cuda && !is_cold(mode_)) {
    ROOFTILE_TRY(spin_cuda(stream_, kHoldUs * static_cast<double>(order.size() + kLeadIn + kTail)));
  }
  if (padded) pad(order, kLeadIn);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Status& status = statuses_[order[i]];
    if (status.ok()) status = time_one(order[i], events_[i]);
    turn_ += (i + 1) % 4 == 0 || i + 1 == order.size() ? 1 : 0;
  }
  if (padded) pad(order, kTail);
  ROOFTILE_TRY(synchronize(stream_));
  std::vector<double> times_us(order.size(), std::numeric_limits<double>::quiet_NaN());
  longest_us_ = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!statuses_[order[i]].ok()) continue;
    ROOFTILE_TRY_ASSIGN(times_us[i], events_[i].stop.elapsed_us_since(events_[i].start));
    longest_us_ = std::max(longest_us_, times_us[i]);
  }
  return times_us;
}

std::string Stopwatch::caveat() const {
  const std::string pinning = pinned_ != nullptr ? pinned_->caveat() : "";
  if (flush_.caveat().empty() || pinning.empty()) return flush_.caveat() + pinning;
  return flush_.caveat() + "; " + pinning;
}

Result<std::vector<TimeSeries>> time_interleaved(StreamRef stream, const DeviceProperties& device,
                                                 const std::vector<TimedLaunch>& launches,
                                                 const TimingOptions& options, std::string* caveat) {
  const auto start = std::chrono::steady_clock::now();
  ROOFTILE_TRY_ASSIGN(Stopwatch watch, Stopwatch::create(stream, device, launches, options.mode));
  std::vector<TimeSeries> series(launches.size());
  std::vector<std::size_t> order(launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});

  for (int round = 0; round < options.max_samples; ++round) {
    if (round >= options.min_samples && seconds_since(start) >= options.budget_s) break;
    // Half of the budget beyond itself is the most that a slow ladder may take to reach min_samples.
    if (round >= 3 && seconds_since(start) >= 1.5 * options.budget_s) break;
    if (options.on_round) options.on_round(round, options.max_samples);
    shuffle(order, static_cast<std::uint64_t>(round));
    ROOFTILE_TRY_ASSIGN(const std::vector<double> times_us, watch.run(order));
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (watch.status(order[i]).ok()) series[order[i]].samples_us.push_back(times_us[i]);
    }
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].status = watch.status(i);
    if (!series[i].status.ok()) series[i].samples_us.clear();
  }
  if (caveat != nullptr) *caveat = watch.caveat();
  return series;
}

}  // namespace rooftile::lab
