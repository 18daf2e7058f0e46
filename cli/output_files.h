// Files that a command writes: looked at before the work, and written all or none behind it.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/status.h"

namespace rooftile::cli {

// Where a path leads, through links: what is to be written.
[[nodiscard]] std::string target_of(const std::string& path);
// The same from the root on: equal for two paths to one file.
[[nodiscard]] std::string place_of(const std::string& path);

// Empty, or why a file cannot be written there.
[[nodiscard]] std::string why_not_writable(const std::string& path);

struct TensorFile {
  std::string path;
  const HostTensor* tensor = nullptr;
};
// As .npy, each beside its place before the first takes it: where one cannot be written, every file is as it was. A file that was there
// keeps its access mode.
[[nodiscard]] Status write_tensors(const std::vector<TensorFile>& files);

}  // namespace rooftile::cli
