#include "rooftile/sim/launch_recording.h"

namespace rooftile::simt {
namespace {

thread_local std::vector<RecordedLaunch>* t_recording = nullptr;

}  // namespace

LaunchRecording::LaunchRecording() : outer_(t_recording) { t_recording = &launches_; }
LaunchRecording::~LaunchRecording() { t_recording = outer_; }

bool detail::record_launch(const GridShape& shape, const KernelCall& kernel) {
  if (t_recording == nullptr) return false;
  t_recording->push_back({shape, kernel.kernel});
  return true;
}

}  // namespace rooftile::simt
