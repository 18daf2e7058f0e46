// NumPy's .npy files (format versions 1.0, 2.0, 3.0), read as data from strangers.
//
// Reads little-endian C-order arrays of bool-free plain dtypes: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8
// (bf16 and 8-bit floats have no .npy type: they are stored as u2/u1 and named by the caller).
// Fortran order, big endian, object and structured dtypes, a header above 64 KiB, extents that
// are negative or overflow, and a file shorter or longer than its header says are errors of one
// line; nothing is allocated before the file's size has been compared with the header's claim.
// Writes version 1.0 to a temporary file in the same folder and renames it, so that a failure
// leaves no half-written file. Source: NumPy Enhancement Proposal 1 and numpy.lib.format.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/status.h"

namespace rooftile {

[[nodiscard]] Result<HostTensor> read_npy(const std::string& path);
// The same from memory: what read_npy does after reading the file.
[[nodiscard]] Result<HostTensor> parse_npy(std::span<const std::byte> file, const std::string& name);
[[nodiscard]] Status write_npy(const std::string& path,
                               const ConstTensorView& tensor);  // contiguous, on the host

}  // namespace rooftile
