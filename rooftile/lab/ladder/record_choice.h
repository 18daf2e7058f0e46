// Which of an operator's records its tables show, in which order, and which of them is the climb.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/lab/ladder/records.h"

namespace rooftile::lab {

struct OperatorRecords {
  std::string name;
  RecordCase default_case;
  // One per machine, case and mode, and of the modes that bars are read in only the one in which the chosen rung looks
  // worst: of two honest figures the less flattering one is published. By machine; cases of the default dtype and
  // parameters first; by size.
  std::vector<const Record*> shown{};
  const Record* climb = nullptr;  // the default case where it is recorded; null: no record at all
  // Where an operator climbs further in another dtype: the default case and ladders of new rungs with its shape, of one machine
  // and mode, in the order of their dtypes; empty: one ladder is all.
  std::vector<const Record*> whole_climb{};
};

// Points into `records`. Of two records of one machine, case and mode the one with fewer stale rows counts,
// then the later path.
[[nodiscard]] OperatorRecords choose_records(const std::vector<Record>& records, std::string_view name,
                                             RecordCase default_case);

// The modes that bars are read in; the others, of warm caches and of graphs, are additional.
[[nodiscard]] bool is_headline(const Record& record);

// Null: none.
[[nodiscard]] const RecordRow* chosen_row(const Record& record);
[[nodiscard]] const RecordRow* bound_row(const Record& record);
[[nodiscard]] const RecordRow* fastest_row(const Record& record);  // of our rungs
// The peer that the rungs were compared with, else the fastest of this process.
[[nodiscard]] const RecordRow* best_peer(const Record& record);

}  // namespace rooftile::lab
