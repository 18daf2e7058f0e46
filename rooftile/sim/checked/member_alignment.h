// How far the accesses of a source line are aligned by the types that they name: reading v.x, v.y, v.z and v.w of a
// float4 is one access of 16 bytes to nvcc, which knows its alignment, where four elements of an array are four.
#pragma once

#include <map>

#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

class MemberAlignment {
 public:
  // Of the running program; without symbols nothing is known.
  static const MemberAlignment& of_program();

  // Bytes, at most 16: the alignment of the structs whose members the line accesses; 1 where it accesses none.
  [[nodiscard]] unsigned of_line(const SourceLine& line) const;

 private:
  MemberAlignment();
  std::map<SourceLine, unsigned> alignments_;
};

}  // namespace rooftile::simt::checked
