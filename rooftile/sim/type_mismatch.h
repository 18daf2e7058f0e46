// What -fsanitize=alignment knows of an access: its layout is UBSan's (compiler-rt/lib/ubsan/ubsan_handlers.h).
#pragma once

#include <cstdint>

namespace rooftile::simt::detail {

struct TypeMismatch {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const void* type;
  unsigned char log_alignment;
  unsigned char kind;
};

}  // namespace rooftile::simt::detail
