#include "rooftile/sim/config.h"

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string>

namespace rooftile::simt {
namespace {

constexpr std::chrono::milliseconds kMaxWatchdog = std::chrono::hours(24);

Result<std::uint64_t> parse_number(std::string_view name, std::string_view text, std::uint64_t low,
                                   std::uint64_t high) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value < low || value > high) {
    return invalid_argument(std::string(name) + " is \"" + std::string(text) +
                            "\": give a whole number from " + std::to_string(low) + " to " +
                            std::to_string(high));
  }
  return value;
}

Result<ExecutorConfig> config_from_environment() {
  ExecutorConfig config;
  if (const char* order = std::getenv("ROOFTILE_SIM_ORDER")) {
    const Status status = parse_lane_order(order, config);
    if (!status.ok()) return invalid_argument("ROOFTILE_SIM_ORDER: " + status.rule());
  }
  if (const char* workers = std::getenv("ROOFTILE_SIM_WORKERS")) {
    ROOFTILE_TRY_ASSIGN(const std::uint64_t count,
                        parse_number("ROOFTILE_SIM_WORKERS", workers, 0, kMaxWorkers));
    config.workers = static_cast<int>(count);
  }
  if (const char* watchdog = std::getenv("ROOFTILE_SIM_WATCHDOG_MS")) {
    ROOFTILE_TRY_ASSIGN(const std::uint64_t limit,
                        parse_number("ROOFTILE_SIM_WATCHDOG_MS", watchdog, 1,
                                     static_cast<std::uint64_t>(kMaxWatchdog.count())));
    config.watchdog = std::chrono::milliseconds(limit);
  }
  if (const char* time_limit = std::getenv("ROOFTILE_SIM_TIME_LIMIT_MS")) {
    ROOFTILE_TRY_ASSIGN(const std::uint64_t limit,
                        parse_number("ROOFTILE_SIM_TIME_LIMIT_MS", time_limit, 0,
                                     static_cast<std::uint64_t>(kMaxWatchdog.count())));
    config.time_limit = std::chrono::milliseconds(limit);
  }
  return config;
}

std::mutex g_config_mutex;

Result<ExecutorConfig>& stored_config() {
  static Result<ExecutorConfig> config = config_from_environment();
  return config;
}

}  // namespace

Status parse_lane_order(std::string_view text, ExecutorConfig& config) {
  constexpr std::string_view kRandom = "random:";
  if (text == "forward") {
    config.order = LaneOrder::forward;
  } else if (text == "reversed") {
    config.order = LaneOrder::reversed;
  } else if (text.starts_with(kRandom)) {
    ROOFTILE_TRY_ASSIGN(const std::uint64_t seed,
                        parse_number("the seed", text.substr(kRandom.size()), 0, UINT64_MAX));
    config.order = LaneOrder::random;
    config.seed = seed;
  } else {
    return invalid_argument("unknown lane order \"" + std::string(text) +
                            "\": give forward, reversed or random:SEED");
  }
  return {};
}

Result<ExecutorConfig> executor_config() {
  const std::scoped_lock lock(g_config_mutex);
  return stored_config();
}

Status set_executor_config(const ExecutorConfig& config) {
  if (config.workers < 0 || config.workers > kMaxWorkers) {
    return invalid_argument("the simulated SM runs on 0 (all) to " + std::to_string(kMaxWorkers) +
                            " workers, not " + std::to_string(config.workers));
  }
  if (config.watchdog < std::chrono::milliseconds(1) || config.watchdog > kMaxWatchdog) {
    return invalid_argument("the watchdog of the simulated SM takes 1 ms to " +
                            std::to_string(kMaxWatchdog.count()) + " ms, not " +
                            std::to_string(config.watchdog.count()));
  }
  if (config.time_limit < std::chrono::milliseconds(0) || config.time_limit > kMaxWatchdog) {
    return invalid_argument("the time limit of the simulated SM takes 0 (none) to " +
                            std::to_string(kMaxWatchdog.count()) + " ms, not " +
                            std::to_string(config.time_limit.count()));
  }
  const std::scoped_lock lock(g_config_mutex);
  stored_config() = config;
  return {};
}

}  // namespace rooftile::simt
