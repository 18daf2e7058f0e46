// A virtual function.
//
// Idea       an object with virtual functions holds the address of a table of functions. Constructed on the
//            host it holds one of host code, which no kernel can call; constructed on the device, one of
//            device code.
// Change     placement new in a kernel, and a call through the table.
// Limits     such an object may not cross between host and device, in either direction.
// Bottleneck memory; three loads that depend on each other before the call, and nothing is inlined.
// Source     CUDA C++ Programming Guide, virtual functions.
#include <new>

#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs/object_device.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {
namespace {

class Map {
 public:
  __device__ virtual float at(float x) const = 0;

 protected:
  ~Map() = default;
};

class AffineMap final : public Map {
 public:
  __device__ explicit AffineMap(Affine affine) : affine_(affine) {}
  __device__ float at(float x) const override { return affine_(x); }

 private:
  Affine affine_;
};

__global__ void construct_map_kernel(void* g_place, Map** g_map, Affine affine) {
  *g_map = new (g_place) AffineMap(affine);
}

__global__ void __launch_bounds__(kBlock)
    virtual_on_device_kernel(const float* g_x, float* g_y, std::int64_t n, Map* const* g_map) {
  const Map* const map = *g_map;
  for (const std::int64_t i : grid_stride(n)) g_y[i] = map->at(g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessObjectArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  auto* map = static_cast<Map**>(call.workspace.data);  // the address of the object, then the object
  ROOFTILE_TRY(
      launch(construct_map_kernel, one_thread(call.stream), map + 1, map, Affine(call.args.a, call.args.b)));
  return launch(virtual_on_device_kernel, config_for(call.stream, n), x_of(call.args), y_of(call.args), n,
                map);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
