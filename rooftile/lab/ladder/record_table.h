// What is generated from recorded ladders: an operator's
// tables and its drawing, and one table of all operators.
//
// Tables stand between `<!-- generated: NAME -->` and `<!-- end generated -->`: NAME is an operator in its
// own README, and `summary` in the README of the tree. The drawings, climb.svg and whole_climb.svg, lie beside the operator's README.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rooftile/core/status.h"
#include "rooftile/lab/ladder/record_choice.h"

namespace rooftile::lab {

// The Markdown of an operator's README.
[[nodiscard]] std::string operator_tables(const OperatorRecords& of);

// Its parts, each of whole lines; empty where there is nothing to say.
[[nodiscard]] std::string climb_table(const Record& climb);
[[nodiscard]] std::string case_matrix(const OperatorRecords& of);  // a row per case
[[nodiscard]] std::string rung_matrix(const OperatorRecords& of);  // a row per rung, a column per case
[[nodiscard]] std::string skipped_rungs(const OperatorRecords& of);

// The climb as an SVG for light and dark pages; empty where nothing is recorded.
[[nodiscard]] std::string climb_svg(const OperatorRecords& of);
// The same in one sentence, for those who do not see it.
[[nodiscard]] std::string climb_sentence(const OperatorRecords& of);
// The ladders of all dtypes in one picture, by rates; empty where there is one ladder.
[[nodiscard]] std::string whole_climb_svg(const OperatorRecords& of);
[[nodiscard]] std::string whole_climb_sentence(const OperatorRecords& of);

// One line per recorded operator: its climb, and the least of all its cases.
[[nodiscard]] std::string summary_table(std::span<const OperatorRecords> operators);

// `text` with `generated` between the markers of `name`.
// An error where the markers are missing, or stand twice.
[[nodiscard]] Result<std::string> replace_generated(std::string_view text, std::string_view name,
                                                    std::string_view generated);

}  // namespace rooftile::lab
