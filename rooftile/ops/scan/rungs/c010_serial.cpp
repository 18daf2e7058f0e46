// CPU rung serial: one loop along each row.
#include "rooftile/ops/scan/scan_cpu.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan, class T>() -> Status {
    const scan_plan::Rows rows = scan_plan::rows_of(call.args);
    const auto* in = static_cast<const T*>(call.args.in.data);
    auto* out = static_cast<T*>(call.args.out.data);
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const std::int64_t at = row * rows.length;
      Scan::run(in + at, out + at, rows.length, call.args.exclusive, Scan::initial(call.args));
    }
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
