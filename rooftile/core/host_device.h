// Functions that are the same on host, device and simulated SM.
#pragma once

#if defined(__CUDACC__)
#define ROOFTILE_HOST_DEVICE __host__ __device__
#else
#define ROOFTILE_HOST_DEVICE
#endif
