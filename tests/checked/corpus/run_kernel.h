// How most kernels of the corpus are launched: one after the other, all on the same input and output.
#pragma once

#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {

template <unsigned kGrid, unsigned kBlock, void (*kFirst)(const float*, float*),
          void (*... kOthers)(const float*, float*)>
Status run(StreamRef stream, const float* g_in, float* g_out) {
  const LaunchConfig config{.grid = dim3(kGrid), .block = dim3(kBlock), .stream = stream};
  if constexpr (sizeof...(kOthers) == 0) {
    return launch(kFirst, config, g_in, g_out);
  } else {
    ROOFTILE_TRY(launch(kFirst, config, g_in, g_out));
    return run<kGrid, kBlock, kOthers...>(stream, g_in, g_out);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::corpus
