// Launching a kernel, the same way on every target.
//
// Never <<<>>>: `launch` checks in every build type, raises the dynamic shared-memory limit, and tells an
// error that was already pending from one of its own.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rooftile/device/target.h"

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if defined(ROOFTILE_SIM)
#include <tuple>

#include "rooftile/sim/executor.h"
#else
#include "rooftile/device/cuda_launch.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

struct LaunchConfig {
  dim3 grid{1};
  dim3 block{1};
  std::size_t shared_bytes = 0;  // dynamic
  StreamRef stream;
  dim3 cluster{1, 1, 1};
  bool cooperative = false;  // all blocks are resident at once and may synchronise with each other
  bool dependent = false;    // may start before the kernel ahead of it in the stream has finished
};

#if !defined(ROOFTILE_SIM)
namespace launch_detail {

inline Status start(const void* kernel, const LaunchConfig& config, void** arguments) {
  return ::rooftile::detail::launch_on_cuda({kernel, config.grid, config.block, config.cluster,
                                             config.shared_bytes, config.stream, config.cooperative,
                                             config.dependent, arguments});
}
// One instance serves all kernels of these parameters, and it is little: an operator has hundreds of kernels.
template <class... Values>
[[nodiscard]] Status start_with(const void* kernel, const LaunchConfig& config, Values... values) {
  void* pointers[] = {static_cast<void*>(&values)..., nullptr};
  return start(kernel, config, static_cast<void**>(pointers));
}

}  // namespace launch_detail
#endif

// Enqueues the kernel (on `sim`: runs it). Arguments convert to the parameters as in a call.
template <class... Params, class... Args>
[[nodiscard]] Status launch(void (*kernel)(Params...), const LaunchConfig& config, Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "one argument per kernel parameter");
  static_assert((std::is_convertible_v<Args&&, Params> && ...),
                "an argument does not convert to its parameter");
#if defined(ROOFTILE_SIM)
  if (config.stream.device.kind != DeviceKind::sim) {
    return invalid_argument("a launch on the simulated SM got a stream of " +
                            to_string(config.stream.device) + ": set LaunchConfig::stream");
  }
  struct Bound {
    void (*kernel)(Params...);
    std::tuple<std::remove_cv_t<Params>...> arguments;
  };
  const Bound bound{kernel, std::tuple<std::remove_cv_t<Params>...>(std::forward<Args>(args)...)};
  const simt::KernelCall call{[](const void* data) {
                                const auto& b = *static_cast<const Bound*>(data);
                                std::apply(b.kernel, b.arguments);  // every thread gets copies of its own
                              },
                              &bound, sizeof(bound), reinterpret_cast<const void*>(kernel)};
  return simt::run_grid({config.grid, config.block, config.shared_bytes, config.cooperative, config.cluster},
                        call);
#else
  return launch_detail::start_with<std::remove_cv_t<Params>...>(reinterpret_cast<const void*>(kernel), config,
                                                                std::forward<Args>(args)...);
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
