// The vendors' libraries, loaded as plugins: the program starts where they are absent.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/registry.h"

namespace rooftile::lab {

struct PeerLibrary {
  std::string file;    // its name: where the program stands is nobody's business in a record
  bool host = false;   // its peers run on the CPU
  std::string reason;  // why it was not loaded; empty: it was
};

// Loads every `rooftile_host_peers_*.so` beside the program, and where a GPU is usable every `rooftile_peers_*.so`,
// and lets it register its peers. A plugin's entry is `extern "C" void
// rooftile_register_peers(rooftile::Registry*)`. Loaded plugins stay loaded.
[[nodiscard]] std::vector<PeerLibrary> load_peers(Registry& registry);

}  // namespace rooftile::lab
