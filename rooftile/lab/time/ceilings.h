// What a device reaches when it does one thing only: the rates that `rooftile device` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/lab/time/arithmetic.h"

namespace rooftile::lab {

struct Ceiling {
  std::string name;      // read, write, copy, l2_read, fma_f32, wgmma_bf16 …
  std::string unit;      // GB/s or TFLOP/s
  double value = 0;      // the median; 0 where it was not measured
  double work = 0;       // bytes or operations of one launch
  double datasheet = 0;  // by the vendor's figures; 0 where unknown
  std::string reason;    // why it was not measured; empty where it was
};

// Memory reads, writes and 1:1 copies, cold; on cuda also reads from the L2, hot, and arithmetic, sustained. On cuda and
// cpu; the simulated SM has no time.
[[nodiscard]] Result<std::vector<Ceiling>> measure_ceilings(Device device);

// fma_f32 or fma_f64 of a GPU by its count of lanes, in TFLOP/s; 0 for an architecture that is not known here.
[[nodiscard]] double datasheet_fma_tflops(int compute_capability, int multiprocessors, double clock_mhz,
                                          Arithmetic arithmetic);

// Dense products of a GPU's tensor cores by NVIDIA's datasheets, in TFLOP/s; 0 where not known here.
[[nodiscard]] double datasheet_tensor_tflops(int compute_capability, int multiprocessors,
                                             Arithmetic arithmetic);

// Ceilings that an earlier run of the program measured on this device with this driver.
struct CachedCeilings {
  std::vector<Ceiling> ceilings;
  std::string path;       // of the cache; empty where there is no place for one
  bool measured = false;  // now, and not read from the cache
  std::string problem;    // why the cache could not be written; empty where nothing was wrong
};
// Measures where the cache has no entry, holds something else, or `remeasure` asks for it.
[[nodiscard]] Result<CachedCeilings> cached_ceilings(Device device, bool remeasure);

// $XDG_CACHE_HOME/rooftile or ~/.cache/rooftile, then ceilings-<device>-<driver>.json; empty without either.
[[nodiscard]] std::string ceilings_path(std::string_view device_name, std::string_view driver);
[[nodiscard]] std::string ceilings_text(std::string_view device_name, std::string_view driver,
                                        const std::vector<Ceiling>& ceilings);
// An error where the text is not what ceilings_text writes for this device and driver.
[[nodiscard]] Result<std::vector<Ceiling>> parse_ceilings(std::string_view text, std::string_view device_name,
                                                          std::string_view driver);

}  // namespace rooftile::lab
