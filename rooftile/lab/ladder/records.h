// Recorded ladders: the JSON files (schema 2, or 1 of older ones) of `rooftile ladder` in results/<gpu>/, as structs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/case.h"
#include "rooftile/core/status.h"
#include "rooftile/lab/base/source_parts.h"

namespace rooftile::lab {

struct RecordRow {
  std::string rung;
  std::string kind;  // "rung", "cpu", "peer", "bound"
  bool chosen = false;
  std::string status;
  std::string reason;
  bool timed = false;
  bool steady = true;
  double median_us = 0;
  double gbps = 0;
  double tflops = 0;
  double bound_fraction = 0;  // 0: none
  std::string peer;
  double ratio = 0;  // 0: none
  std::string verdict;
  SourceParts sources;  // what it was measured from
  bool stale = false;   // as mark_stale() found

  [[nodiscard]] bool is_ours() const { return kind == "rung" || kind == "cpu"; }
};

// Values as a command line has them.
struct RecordCase {
  std::vector<std::pair<std::string, std::int64_t>> shape;
  std::string dtype;
  std::vector<std::pair<std::string, std::string>> params;
  std::string fill;
  std::int64_t offset = 0;

  bool operator==(const RecordCase&) const = default;
};
[[nodiscard]] RecordCase record_case(const Case& c);

// One case of one ladder.
struct Record {
  std::string path;     // from the root of the tree
  std::string gpu;      // the folder's name
  std::string machine;  // the device that was measured
  std::string operator_name;
  RecordCase the_case;
  std::string mode;
  std::string commit;  // "-dirty" behind it: of a tree that differed
  std::string command;
  double read_bytes = 0;
  double write_bytes = 0;
  double flops = 0;
  double process_copy = 0;  // of a peer's process: its time of a copy over ours; 0: there was none
  std::vector<std::string> notes;
  std::vector<RecordRow> rows;
};

// All ladder records under root/results, by path; records of another kind are passed over. An error names the file that is no JSON, or no record.
[[nodiscard]] Result<std::vector<Record>> read_records(const std::string& root);

// Says of every row whether it was measured from other sources than those that stand here.
using IsStale = std::function<bool(const Record& record, const RecordRow& row)>;
void mark_stale(std::vector<Record>& records, const IsStale& is_stale);

}  // namespace rooftile::lab
