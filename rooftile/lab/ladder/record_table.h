// Recorded ladders as the tables of the READMEs.
//
// Records are the JSON files (schema 1) of `rooftile ladder` in results/<gpu>/. The tables stand between
// `<!-- generated: NAME -->` and `<!-- end generated -->`: NAME is an operator in its own README, and
// `summary` in the README of the tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/base/source_parts.h"

namespace rooftile::lab {

struct RecordRow {
  std::string rung;
  std::string kind;
  bool other_process = false;
  bool chosen = false;
  std::string status;
  std::string reason;
  bool timed = false;
  bool steady = true;
  double median_us = 0;
  double gbps = 0;
  double bound_fraction = 0;  // 0: none
  std::string peer;
  double ratio = 0;  // 0: none
  std::string verdict;
  SourceParts sources;
  std::vector<std::string> stale;  // the parts of them that are not the present ones
};

// One case of one ladder.
struct Record {
  std::string path;     // from the root of the tree
  std::string gpu;      // the folder's name
  std::string machine;  // the device that was measured
  std::string operator_name;
  std::string case_name;  // "n=268435456, f32, op=sum"
  std::string mode;
  std::string commit;
  std::string command;
  double read_bytes = 0;
  double write_bytes = 0;
  std::vector<RecordRow> rows;
};

// All ladder records under root/results, by path; records of another kind are passed over. Rows of other sources
// than `present` are marked as stale. An error names the file that is no JSON, or no record.
[[nodiscard]] Result<std::vector<Record>> read_records(const std::string& root,
                                                       SourceTable present = present_sources());

// The Markdown of an operator: a table for each case; what is stale is named.
[[nodiscard]] std::string operator_tables(const std::vector<Record>& records, std::string_view operator_name);

// One line per operator and GPU: the chosen rung of its first record.
[[nodiscard]] std::string summary_table(const std::vector<Record>& records,
                                        const std::vector<std::string>& operators);

// `text` with `generated` between the markers of `name`. An error where the markers are missing, or stand
// twice.
[[nodiscard]] Result<std::string> replace_generated(std::string_view text, std::string_view name,
                                                    std::string_view generated);

}  // namespace rooftile::lab
