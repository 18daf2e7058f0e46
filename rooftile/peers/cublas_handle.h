// What the peers by cuBLAS share: a handle per thread, its errors, its version.
#pragma once

#include <cublas_v2.h>

#include <string>
#include <string_view>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::peers {

[[nodiscard]] inline Status cublas_status(cublasStatus_t status, std::string_view function) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return internal_error("cublas " + std::string(function) + ": " + cublasGetStatusString(status));
}

// The thread's handle, of the device that it used last (making one allocates), set to a stream.
class CublasCall {
 public:
  explicit CublasCall(const StreamRef& stream, cublasPointerMode_t scalars = CUBLAS_POINTER_MODE_HOST) {
    thread_local Owned owned;
    if (owned.handle != nullptr && owned.device != stream.device.index) owned.reset();
    if (owned.handle == nullptr) {
      status_ = cublas_status(cublasCreate(&owned.handle), "create");
      if (!status_.ok()) return;
      owned.device = stream.device.index;
    }
    handle_ = owned.handle;
    status_ = cublas_status(cublasSetStream(handle_, static_cast<cudaStream_t>(stream.handle)), "setStream");
    if (status_.ok()) status_ = cublas_status(cublasSetPointerMode(handle_, scalars), "setPointerMode");
  }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] cublasHandle_t handle() const { return handle_; }

 private:
  struct Owned {
    cublasHandle_t handle = nullptr;
    int device = -1;
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { reset(); }
    void reset() {
      if (handle != nullptr) cublasDestroy(handle);
      handle = nullptr;
    }
  };
  cublasHandle_t handle_ = nullptr;
  Status status_;
};

// "cuBLAS 13.1.0 dotEx"
[[nodiscard]] inline std::string cublas_version(std::string_view function) {
  std::string text = "cuBLAS";
  char divider = ' ';
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    if (cublasGetProperty(part, &number) != CUBLAS_STATUS_SUCCESS) break;
    text += divider + std::to_string(number);
    divider = '.';
  }
  return text + " " + std::string(function);
}

}  // namespace rooftile::peers
