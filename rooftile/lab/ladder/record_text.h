// Words of the tables and drawings that are made from records.
#pragma once

#include <string>
#include <string_view>

#include "rooftile/lab/ladder/records.h"

namespace rooftile::lab {

[[nodiscard]] std::string time_text(double us);               // "12.50 us", "1.198 ms"
[[nodiscard]] std::string share_text(double share);           // "0.987"; empty: none
[[nodiscard]] std::string ratio_text(double ratio);           // "1.042", "17.05"
[[nodiscard]] std::string commit_text(const Record& record);  // 12 digits, and whether the tree differed

// "n=2^28", "m=8192, n=4096": powers of two from 2^16 on as such.
[[nodiscard]] std::string shape_text(const RecordCase& c);
// Shape, dtype, params, and fill and offset where they are not the usual ones.
[[nodiscard]] std::string case_text(const RecordCase& c);
// The same, of the params those alone that are not `usual`'s.
[[nodiscard]] std::string case_text(const RecordCase& c, const RecordCase& usual);
// "op=sum, axis=all"; empty: none.
[[nodiscard]] std::string params_text(const RecordCase& c);

// Work that is bound by arithmetic is told in TFLOP/s, any other in GB/s.
[[nodiscard]] bool counts_flops(const Record& record);
[[nodiscard]] std::string rate_text(const Record& record, const RecordRow& row);  // "4323", "0.57"
[[nodiscard]] std::string_view rate_unit(const Record& record);

// A table's cell must not end its cell or its line.
[[nodiscard]] std::string cell(std::string_view text);

}  // namespace rooftile::lab
