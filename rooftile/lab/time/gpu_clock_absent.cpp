// In place of gpu_clock.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/gpu_clock.h"

namespace rooftile::lab {

Status spin_cuda(StreamRef, double) { return unavailable("this program is built without CUDA"); }

Result<double> sm_clock_mhz(StreamRef) { return unavailable("this program is built without CUDA"); }

Result<double> rated_sm_clock_mhz(Device) { return unavailable("this program is built without CUDA"); }

Result<std::string> pci_address(Device) { return unavailable("this program is built without CUDA"); }

}  // namespace rooftile::lab
