#include "rooftile/lab/ceilings.h"

#include <array>
#include <utility>

#include "rooftile/lab/statistics.h"
#include "rooftile/lab/stream_bound.h"
#include "rooftile/lab/timing.h"

namespace rooftile::lab {

Result<std::vector<MeasuredRate>> measure_streaming(Device device, double bytes) {
  if (device.kind == DeviceKind::sim) return unsupported("the simulated SM has no time");
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  ROOFTILE_TRY_ASSIGN(const Stream stream, Stream::create(device));

  struct Mix {
    const char* name;
    double read;
    double write;
  };
  const std::array<Mix, 3> mixes = {
      {{"read", bytes, 0.0}, {"write", 0.0, bytes}, {"copy", bytes / 2, bytes / 2}}};
  std::vector<StreamBound> bounds;
  for (const Mix& mix : mixes) {
    ROOFTILE_TRY_ASSIGN(StreamBound bound, StreamBound::create(stream.ref(), mix.read, mix.write));
    bounds.push_back(std::move(bound));
  }
  std::vector<TimedLaunch> launches;
  for (const StreamBound& bound : bounds)
    launches.push_back({[&bound, &stream] { return bound.launch(stream.ref()); }});
  ROOFTILE_TRY_ASSIGN(
      const std::vector<TimeSeries> series,
      time_interleaved(stream.ref(), *properties, launches,
                       {.min_samples = 5, .max_samples = 20, .budget_s = 1.0, .on_round = {}}, nullptr));
  std::vector<MeasuredRate> rates;
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    ROOFTILE_TRY(series[i].status);
    const double median_us = summarize(series[i].samples_us).median;
    rates.push_back(
        {mixes[i].name, bounds[i].bytes(), median_us > 0.0 ? bounds[i].bytes() / median_us * 1e-3 : 0.0});
  }
  return rates;
}

}  // namespace rooftile::lab
