// The CPU rungs of the norms' backward passes, in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/families/norm/norm_backward_plan.h"
#include "rooftile/families/norm/norm_cpu.h"

namespace rooftile::cpu::norm::backward {

using norm_backward_plan::Cut, norm_backward_plan::kDsum, norm_backward_plan::kDx, norm_backward_plan::kDy;

template <class Args>
TensorView dbias_of(const Args& args) {
  if constexpr (requires { args.dbias; }) return args.dbias;
  return {};
}

// dx of row r; what it hands to the columns is added to sums (n for dweight, n for dbias).
template <bool kCentred, class T, class Args>
void gradient_row(const Args& args, const Rows<norm_backward_plan::kTensors>& rows, std::int64_t r,
                  double* sums) {
  const auto place = [&](std::size_t tensor) {
    const RowPitch& pitch = rows.tensors[tensor];
    return r / rows.inner * pitch.outer_pitch + r % rows.inner * pitch.pitch;
  };
  const auto at = [&](const ConstTensorView& view, std::size_t tensor, std::int64_t j) {
    return static_cast<double>(
        number(static_cast<const T*>(view.data)[place(tensor) + j * rows.tensors[tensor].step]));
  };
  const auto x = [&](std::int64_t j) { return at(args.x, norm_backward_plan::kX, j); };
  const auto dy = [&](std::int64_t j) { return at(args.dy, kDy, j); };
  const auto g = [&](std::int64_t j) {
    return is_absent(args.weight) ? dy(j) : dy(j) * number(static_cast<const T*>(args.weight.data)[j]);
  };
  const std::int64_t n = rows.length;
  const auto length = static_cast<double>(n);
  double mean = 0;
  for (std::int64_t j = 0; kCentred && j < n; ++j) mean += x(j) / length;
  double squares = 0;
  for (std::int64_t j = 0; j < n; ++j) squares += (x(j) - mean) * (x(j) - mean);
  const double factor = 1 / std::sqrt(squares / length + args.eps);
  const auto normalised = [&](std::int64_t j) { return (x(j) - mean) * factor; };
  double mean_g = 0;
  double mean_gx = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    if (kCentred) mean_g += g(j) / length;
    mean_gx += g(j) * normalised(j) / length;
    sums[j] += dy(j) * normalised(j);
    sums[n + j] += dy(j);
  }
  T* target = static_cast<T*>(args.dx.data) + place(kDx);
  for (std::int64_t j = 0; j < n; ++j) {
    double dx = (g(j) - mean_g - normalised(j) * mean_gx) * factor;
    if (!is_absent(args.dsum)) dx += at(args.dsum, kDsum, j);
    target[j * rows.tensors[kDx].step] = rounded<T>(dx);
  }
}

// The parts' sums in their order.
template <class T, class Args>
void write_columns(const Args& args, const double* sums, std::int64_t parts, std::int64_t n, std::int64_t j) {
  const auto write = [&](const TensorView& view, std::int64_t first) {
    if (is_absent(view)) return;
    double sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) sum += sums[part * 2 * n + first + j];
    static_cast<T*>(view.data)[j] = rounded<T>(sum);
  };
  write(args.dweight, 0);
  write(dbias_of(args), n);
}

// Parts of the rows, each one's columns in its own sums; `for_all(count, body)` runs the parts and then the columns.
template <bool kCentred, class Args, class ForAll>
Status run_parts(const Call<Args>& call, const ForAll& for_all_of) {
  const Args& args = call.args;
  const Cut& cut = call.template config<Cut>();
  const std::int64_t n = cut.rows.length;
  auto* sums = static_cast<double*>(call.workspace.data);
  return dispatch_floats(args, [&]<class T>() -> Status {
    for_all_of(cut.parts, [&](std::int64_t part) {
      double* own = sums + part * 2 * n;
      for (std::int64_t i = 0; i < 2 * n; ++i) own[i] = 0;
      const std::int64_t last = smaller((part + 1) * cut.part_rows, cut.rows.count);
      for (std::int64_t r = part * cut.part_rows; r < last; ++r)
        gradient_row<kCentred, T>(args, cut.rows, r, own);
    });
    for_all_of(n, [&](std::int64_t j) { write_columns<T>(args, sums, cut.parts, n, j); });
    return {};
  });
}

template <bool kCentred, class Args>
Status serial(const Call<Args>& call) {
  return run_parts<kCentred>(call, [](std::int64_t count, const auto& body) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  });
}

template <bool kCentred, class Args>
Status threaded(const Call<Args>& call) {
  return run_parts<kCentred>(call, [](std::int64_t count, const auto& body) { for_all(count, body); });
}

}  // namespace rooftile::cpu::norm::backward
