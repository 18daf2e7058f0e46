#include "rooftile/ops/elementwise/elementwise_functor.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

struct Blend {
  float weight;
  __device__ double operator()(float x, __half y) const {
    return static_cast<double>(x) + static_cast<double>(weight) * static_cast<double>(__half2float(y));
  }
};
struct BlendFactory {
  const float* g_weight;
  __device__ Blend operator()() const { return {*g_weight}; }
};

struct Product {
  __device__ __half operator()(__half x, __half y) const { return __hmul(x, y); }
  __device__ Vec<__half, 2> apply2(const Vec<__half, 2>& x, const Vec<__half, 2>& y) const {
    const __half2 product = __hmul2(__halves2half2(x[0], x[1]), __halves2half2(y[0], y[1]));
    return {{__low2half(product), __high2half(product)}};
  }
};

}  // namespace

Status blend(StreamRef stream, const DeviceProperties& device, std::int64_t n, double* g_out,
             const float* g_x, const void* g_y, const float* g_weight) {
  return elementwise_with(from_factory(BlendFactory{g_weight}), stream, device, n, g_out, g_x,
                          static_cast<const __half*>(g_y));
}

Status product(StreamRef stream, const DeviceProperties& device, const TensorView& out,
               const ConstTensorView& x, const ConstTensorView& y) {
  return elementwise_views_with<__half(__half, __half)>(Product{}, stream, device, out, x, y);
}

}  // namespace rooftile::ROOFTILE_TARGET
