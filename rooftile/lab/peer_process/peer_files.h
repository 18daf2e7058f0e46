// The files by which tensors travel between two processes: in a folder that nobody else can read and that is removed
// with this object, and by the child where this program is killed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile::lab {

class PeerFiles {
 public:
  // In /dev/shm where there is room for so many bytes, else in $TMPDIR or /tmp.
  static Result<PeerFiles> create(double bytes);
  PeerFiles(PeerFiles&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  PeerFiles& operator=(PeerFiles&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  PeerFiles(const PeerFiles&) = delete;
  PeerFiles& operator=(const PeerFiles&) = delete;
  ~PeerFiles();

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] Status write(const std::string& name, const void* data, std::size_t bytes) const;
  // All of a file that must have so many bytes; it is gone then.
  [[nodiscard]] Status take(const std::string& name, void* data, std::size_t bytes) const;
  void remove(const std::string& name) const;

 private:
  explicit PeerFiles(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace rooftile::lab
