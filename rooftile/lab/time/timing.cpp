#include "rooftile/lab/time/timing.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
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
#include "rooftile/lab/time/stream_bound.h"

namespace rooftile::lab {
namespace {

constexpr std::size_t kSmallestFlush = std::size_t{128} << 20;
// A virtual machine may report the last-level cache of a
// whole socket: no more than this is walked on the host.
constexpr std::size_t kLargestHostFlush = std::size_t{256} << 20;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kSinkBytes = 256;

// In hot modes nothing but the launches keeps the GPU busy: held back for this long per launch while the host
// enqueues them, so that no event pair holds the host's own time.
constexpr double kHoldUs = 25.0;

// On an H200 the first three launches after an idle device take 0.3 us longer than those that follow, and the
// last four of what the host has enqueued up to 0.7 us less (docs/measuring.md): so many of each run untimed
// around the timed ones, unless launches take so long that it cannot be seen.
constexpr std::size_t kLeadIn = 4;
constexpr std::size_t kTail = 8;
constexpr double kPaddedUs = 500.0;

// Two graphs of one launch differ by up to 5 % of 7 us, the later
// made being the slower one: several of each, made in turns.
constexpr unsigned kGraphsPerLaunch = 4;

// A burst lasts long enough for the power of what it runs to show, and goes untimed before itself.
constexpr double kBurstUs = 5000.0;
constexpr double kMostInBurst = 1000;
constexpr double kPreheatSeconds = 1.0;

constexpr double kAtOnceUs = 20000.0;  // so that the budget is looked at often enough
constexpr double kMostRoundsAtOnce = 16;
constexpr double kMostHeldLaunches = 64;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Fisher and Yates, by Philox: the same orders in every run of the program.
void shuffle(std::vector<std::size_t>& order, std::uint64_t round, std::uint64_t seed) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const PhiloxCounter words = philox4x32_10(philox_counter(i, round), philox_key(seed));
    std::swap(order[i - 1], order[static_cast<std::size_t>((std::uint64_t{words.x} * i) >> 32)]);
  }
}

}  // namespace

std::string_view to_string(TimeMode mode) {
  switch (mode) {
    case TimeMode::stream_cold:
      return "stream-cold";
    case TimeMode::stream_cold_clean:
      return "stream-cold-clean";
    case TimeMode::stream_hot:
      return "stream-hot";
    case TimeMode::graph_cold:
      return "graph-cold";
    case TimeMode::graph_hot:
      return "graph-hot";
    case TimeMode::sustained:
      return "sustained";
  }
  return "stream-cold";
}

std::span<const TimeMode> all_time_modes() {
  static constexpr std::array kModes = {TimeMode::stream_cold, TimeMode::stream_cold_clean,
                                        TimeMode::stream_hot,  TimeMode::graph_cold,
                                        TimeMode::graph_hot,   TimeMode::sustained};
  return kModes;
}

Result<TimeMode> parse_time_mode(std::string_view text) {
  std::vector<std::string_view> names;
  for (const TimeMode mode : all_time_modes()) {
    if (to_string(mode) == text) return mode;
    names.push_back(to_string(mode));
  }
  return invalid_argument(fmt::format("unknown mode '{}': choose one of {}", text, fmt::join(names, ", ")));
}

Result<CacheFlush> CacheFlush::create(StreamRef stream, const DeviceProperties& device, bool clean) {
  CacheFlush flush;
  std::size_t bytes = std::max(2 * device.last_level_cache, kSmallestFlush);
  if (stream.device.kind != DeviceKind::cuda && bytes > kLargestHostFlush) {
    bytes = kLargestHostFlush;
    flush.caveat_ = fmt::format("cold (partial): the flush walks {} of a reported {} last-level cache",
                                format_bytes(static_cast<double>(bytes)),
                                format_bytes(static_cast<double>(device.last_level_cache)));
  }
  ROOFTILE_TRY_ASSIGN(flush.buffer_, DeviceMemory::allocate(stream.device, bytes));
  flush.clean_ = clean;
  if (clean && stream.device.kind == DeviceKind::cuda) {
    ROOFTILE_TRY_ASSIGN(flush.read_, DeviceMemory::allocate(stream.device, bytes));
    ROOFTILE_TRY_ASSIGN(flush.sink_, DeviceMemory::allocate(stream.device, kSinkBytes));
    ROOFTILE_TRY(fill_bytes(stream, flush.read_.data(), 0x01, bytes));
  } else if (clean) {
    ROOFTILE_TRY(fill_bytes(stream, flush.buffer_.data(), 0x01, bytes));
  }
  return flush;
}

Status CacheFlush::run(StreamRef stream) const {
  if (stream.device.kind == DeviceKind::cuda) {
    ROOFTILE_TRY(fill_bytes(stream, buffer_.data(), 0x3C, buffer_.bytes()));
    if (!clean_) return {};
    return stream_bound_cuda(stream, StreamAccess::cached_x4, read_.data(), read_.bytes(), nullptr, 0,
                             sink_.data());
  }
  auto* bytes = static_cast<unsigned char*>(buffer_.data());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, buffer_.bytes() / kCacheLine, 1 << 14),
                    [&](const auto& lines) {
                      for (std::size_t line = lines.begin(); line != lines.end(); ++line) {
                        volatile unsigned char* byte = bytes + line * kCacheLine;
                        const auto value = static_cast<unsigned char>(*byte + 1);
                        if (!clean_) *byte = value;
                      }
                    });
  return {};
}

Status check_mode(TimeMode mode, Device device) {
  if (uses_graph(mode) && device.kind != DeviceKind::cuda) {
    return invalid_argument(fmt::format("{} needs a GPU, {} has no graphs: choose stream-cold or stream-hot",
                                        to_string(mode), to_string(device)));
  }
  return {};
}

Result<Stopwatch> Stopwatch::create(StreamRef stream, const DeviceProperties& device,
                                    const std::vector<TimedLaunch>& launches, TimeMode mode) {
  ROOFTILE_TRY(check_mode(mode, stream.device));
  Stopwatch watch;
  watch.stream_ = stream;
  watch.mode_ = mode;
  watch.launches_ = launches;
  watch.statuses_.resize(launches.size());
  if (stream.device.kind == DeviceKind::cpu) watch.pinned_ = std::make_unique<PinnedThreads>();
  if (is_cold(mode)) {
    ROOFTILE_TRY_ASSIGN(watch.flush_,
                        CacheFlush::create(stream, device, mode == TimeMode::stream_cold_clean));
  }
  watch.last_us_.resize(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].measure) continue;
    watch.statuses_[i] = watch.prepare_one(i);
    if (watch.statuses_[i].ok()) watch.statuses_[i] = launches[i].launch();
    if (watch.statuses_[i].ok()) watch.statuses_[i] = synchronize(stream);
  }
  if (uses_graph(mode)) watch.capture_all();
  if (mode == TimeMode::sustained) ROOFTILE_TRY(watch.preheat());
  return watch;
}

Status Stopwatch::preheat() {
  ROOFTILE_TRY(grow_events(launches_.size()));
  bursts_.assign(launches_.size(), 1);
  // What is measured elsewhere heats itself.
  const auto is_ours = [this](std::size_t i) { return statuses_[i].ok() && !launches_[i].measure; };
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!is_ours(i)) continue;
    statuses_[i] = time_burst(i, events_[i]);
    ROOFTILE_TRY(synchronize(stream_));
    if (!statuses_[i].ok()) continue;
    ROOFTILE_TRY_ASSIGN(const double us, events_[i].stop.elapsed_us_since(events_[i].start));
    bursts_[i] = us > 0 ? static_cast<int>(std::clamp(kBurstUs / us, 1.0, kMostInBurst)) : 1;
  }
  while (seconds_since(start) < kPreheatSeconds) {
    bool any = false;
    for (std::size_t i = 0; i < launches_.size() && seconds_since(start) < kPreheatSeconds; ++i) {
      if (!is_ours(i)) continue;
      statuses_[i] = time_burst(i, events_[i]);
      ROOFTILE_TRY(synchronize(stream_));
      any = true;
    }
    if (!any) break;
  }
  return {};
}

// Forth or back by the sequence of Thue and Morse, so that no launch has the earlier graphs.
void Stopwatch::capture_all() {
  const std::size_t count = launches_.size();
  graphs_.resize(count);
  for (unsigned graph = 0; graph < kGraphsPerLaunch; ++graph) {
    const bool back = std::popcount(graph) % 2 == 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t launch = back ? count - 1 - i : i;
      if (statuses_[launch].ok() && !launches_[launch].measure) statuses_[launch] = capture(launch);
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

Status Stopwatch::prepare_one(std::size_t launch) const {
  return launches_[launch].prepare ? launches_[launch].prepare() : Status();
}

Status Stopwatch::start_one(std::size_t launch) const {
  return uses_graph(mode_) ? graphs_[launch][turn_ % kGraphsPerLaunch].launch(stream_)
                           : launches_[launch].launch();
}

Status Stopwatch::time_burst(std::size_t launch, EventPair& events) const {
  ROOFTILE_TRY(prepare_one(launch));
  for (int i = 0; i < bursts_[launch]; ++i) ROOFTILE_TRY(start_one(launch));
  ROOFTILE_TRY(events.start.record(stream_));
  for (int i = 0; i < bursts_[launch]; ++i) ROOFTILE_TRY(start_one(launch));
  return events.stop.record(stream_);
}

Status Stopwatch::time_one(std::size_t launch, EventPair& events) const {
  if (mode_ == TimeMode::sustained) return time_burst(launch, events);
  ROOFTILE_TRY(prepare_one(launch));
  ROOFTILE_TRY(is_cold(mode_) ? flush_.run(stream_) : start_one(launch));
  if (!is_cold(mode_)) ROOFTILE_TRY(prepare_one(launch));
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

void Stopwatch::pad(std::size_t count) {
  std::size_t shortest = launches_.size();
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!statuses_[i].ok() || launches_[i].measure) continue;
    if (shortest == launches_.size() || last_us_[i] < last_us_[shortest]) shortest = i;
  }
  if (shortest == launches_.size() || last_us_[shortest] > kPaddedUs) return;
  for (std::size_t i = 0; i < count && statuses_[shortest].ok(); ++i)
    statuses_[shortest] = time_one(shortest, events_.back());
}

Status Stopwatch::run_ours(std::span<const std::size_t> order, std::span<double> times_us) {
  ROOFTILE_TRY(grow_events(order.size() + 1));
  // What is sustained has company of its own kind.
  const bool padded = stream_.device.kind == DeviceKind::cuda && mode_ != TimeMode::sustained;
  if (padded && !is_cold(mode_)) {
    ROOFTILE_TRY(spin_cuda(stream_, kHoldUs * static_cast<double>(order.size() + kLeadIn + kTail)));
  }
  if (padded) pad(kLeadIn);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Status& status = statuses_[order[i]];
    if (status.ok()) status = time_one(order[i], events_[i]);
    // The next graphs every fourth launch, so that a launch meets all of its own in any order.
    turn_ += (i + 1) % kGraphsPerLaunch == 0 || i + 1 == order.size() ? 1 : 0;
  }
  if (padded) pad(kTail);
  ROOFTILE_TRY(synchronize(stream_));
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!statuses_[order[i]].ok()) continue;
    ROOFTILE_TRY_ASSIGN(times_us[i], events_[i].stop.elapsed_us_since(events_[i].start));
    if (mode_ == TimeMode::sustained) times_us[i] /= bursts_[order[i]];
    last_us_[order[i]] = times_us[i];
  }
  return {};
}

Result<double> Stopwatch::run_elsewhere(std::size_t launch) const {
  ROOFTILE_TRY(synchronize(stream_));
  return launches_[launch].measure(mode_);
}

Result<std::vector<double>> Stopwatch::run(std::span<const std::size_t> order) {
  std::vector<double> times_us(order.size(), std::numeric_limits<double>::quiet_NaN());
  const auto is_elsewhere = [this](std::size_t launch) {
    return static_cast<bool>(launches_[launch].measure);
  };
  for (std::size_t first = 0; first < order.size();) {
    if (const std::size_t launch = order[first]; is_elsewhere(launch)) {
      if (statuses_[launch].ok()) {
        const Result<double> us = run_elsewhere(launch);
        if (us.ok())
          times_us[first] = *us;
        else
          statuses_[launch] = us.status();
      }
      ++first;
      continue;
    }
    const auto rest = order.subspan(first);
    const auto count =
        static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), is_elsewhere) - rest.begin());
    ROOFTILE_TRY(run_ours(rest.first(count), std::span(times_us).subspan(first, count)));
    first += count;
  }
  return times_us;
}

void Stopwatch::check_all() {
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!statuses_[i].ok() || !launches_[i].check) continue;
    statuses_[i] = launches_[i].check([&]() -> Status {
      if (!launches_[i].measure) ROOFTILE_TRY(start_one(i));
      return synchronize(stream_);
    });
  }
}

TimingRemarks Stopwatch::remarks() const {
  const std::string pinning = pinned_ != nullptr ? pinned_->caveat() : "";
  const std::string between = flush_.caveat().empty() || pinning.empty() ? "" : "; ";
  return {flush_.caveat() + between + pinning, flush_.bytes()};
}

namespace {

// As many rounds as fit into a short while, between two waits for the device; one where nothing is known yet.
int rounds_at_once(std::span<const TimeSeries> series, TimeMode mode) {
  if (mode == TimeMode::sustained) return 1;
  double round_us = 0;
  for (const TimeSeries& one : series) {
    if (!one.samples_us.empty()) round_us += one.samples_us.back();
  }
  // In hot modes the GPU is held back until all of them are enqueued: its queue is not endless.
  const auto launches = static_cast<double>(std::max<std::size_t>(series.size(), 1));
  const double most = is_cold(mode) ? kMostRoundsAtOnce : std::max(kMostHeldLaunches / launches, 1.0);
  return round_us > 0 ? static_cast<int>(std::clamp(kAtOnceUs / round_us, 1.0, most)) : 1;
}

}  // namespace

Result<std::vector<TimeSeries>> time_interleaved(StreamRef stream, const DeviceProperties& device,
                                                 const std::vector<TimedLaunch>& launches,
                                                 const TimingOptions& options, const Settled& settled,
                                                 TimingRemarks* remarks) {
  ROOFTILE_TRY_ASSIGN(Stopwatch watch, Stopwatch::create(stream, device, launches, options.mode));
  const auto start = std::chrono::steady_clock::now();
  std::vector<TimeSeries> series(launches.size());
  std::vector<std::size_t> order(launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});

  int round = 0;
  int look = std::max(std::min(options.first_look, options.max_rounds), 1);
  while (true) {
    const double spent = seconds_since(start);
    // Half of the budget beyond itself is the most that a slow ladder may take to reach min_rounds.
    if ((round >= options.min_rounds && spent >= options.budget_s) ||
        (round >= 3 && spent >= 1.5 * options.budget_s))
      break;
    if (options.on_round) options.on_round(round, options.max_rounds);
    const int count = std::min(rounds_at_once(series, options.mode), look - round);
    std::vector<std::size_t> orders;
    for (int i = 0; i < count; ++i) {
      shuffle(order, static_cast<std::uint64_t>(round) + static_cast<std::uint64_t>(i), options.order_seed);
      orders.insert(orders.end(), order.begin(), order.end());
    }
    ROOFTILE_TRY_ASSIGN(const std::vector<double> times_us, watch.run(orders));
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (watch.status(orders[i]).ok()) series[orders[i]].samples_us.push_back(times_us[i]);
    }
    for (std::size_t i = 0; i < series.size(); ++i) {
      series[i].status = watch.status(i);
      if (!series[i].status.ok()) series[i].samples_us.clear();
    }
    round += count;
    if (round < look) continue;
    if (look == options.max_rounds || !settled || settled(series)) break;
    look = std::min(2 * look, options.max_rounds);
  }
  if (options.on_timed) options.on_timed();
  watch.check_all();
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].status = watch.status(i);
    if (!series[i].status.ok()) series[i].samples_us.clear();
  }
  if (remarks != nullptr) *remarks = watch.remarks();
  return series;
}

Margins margins_of(const DeviceProperties& device, TimeMode mode, double bytes) {
  const auto cache = static_cast<double>(device.last_level_cache);
  return {device.device.kind, !is_cold(mode) && bytes > 0.5 * cache && bytes < 2.0 * cache};
}

SeriesComparison compare_series(const TimeSeries& own, const TimeSeries& other, Margins margins,
                                std::uint64_t seed) {
  SeriesComparison comparison;
  if (own.samples_us.empty() || own.samples_us.size() != other.samples_us.size()) return comparison;
  comparison.ratio = ratio_of_medians(own.samples_us, other.samples_us, seed);
  double margin = margins.device == DeviceKind::cuda
                      ? std::max(kSameMargin, kPlacementUs / quantile(own.samples_us, 0.5))
                      : kHostMargin;
  if (margins.near_cache) margin = std::max(margin, kNearCacheMargin);
  comparison.verdict = judge(comparison.ratio, static_cast<int>(own.samples_us.size()), margin);
  return comparison;
}

}  // namespace rooftile::lab
