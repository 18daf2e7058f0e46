// What a launcher would launch, without running it: grids of any size, on memory that need not be there.
#pragma once

#include <vector>

#include "rooftile/sim/executor.h"

namespace rooftile::simt {

struct RecordedLaunch {
  GridShape shape;
  const void* kernel = nullptr;  // its code, for its name
};

// While it lives, launches of the calling thread are noted down and succeed in place of being run; the
// innermost of several takes them. Results are whatever memory held before.
class LaunchRecording {
 public:
  LaunchRecording();
  LaunchRecording(const LaunchRecording&) = delete;
  LaunchRecording& operator=(const LaunchRecording&) = delete;
  ~LaunchRecording();

  [[nodiscard]] const std::vector<RecordedLaunch>& launches() const { return launches_; }

 private:
  std::vector<RecordedLaunch> launches_;
  std::vector<RecordedLaunch>* const outer_;
};

namespace detail {
// Notes the launch down where the calling thread records; false where it does not.
[[nodiscard]] bool record_launch(const GridShape& shape, const KernelCall& kernel);
}  // namespace detail

}  // namespace rooftile::simt
