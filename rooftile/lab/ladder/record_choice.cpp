#include "rooftile/lab/ladder/record_choice.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace rooftile::lab {
namespace {

template <class Wanted>
const RecordRow* find_row(const Record& record, const Wanted& wanted) {
  const auto at = std::find_if(record.rows.begin(), record.rows.end(),
                               [&wanted](const RecordRow& row) { return row.timed && wanted(row); });
  return at == record.rows.end() ? nullptr : &*at;
}

template <class Wanted>
const RecordRow* find_fastest(const Record& record, const Wanted& wanted) {
  const RecordRow* fastest = nullptr;
  for (const RecordRow& row : record.rows) {
    if (row.timed && wanted(row) && (fastest == nullptr || row.median_us < fastest->median_us))
      fastest = &row;
  }
  return fastest;
}

auto stale_rows(const Record& record) {
  return std::count_if(record.rows.begin(), record.rows.end(),
                       [](const RecordRow& row) { return row.stale; });
}

double bytes(const Record& record) { return record.read_bytes + record.write_bytes; }

// Less is less flattering; what the record does not know flatters nobody and decides nothing.
double flattery(const Record& record) {
  const RecordRow* chosen = chosen_row(record);
  if (chosen == nullptr) return std::numeric_limits<double>::infinity();
  return chosen->ratio > 0 ? chosen->ratio : chosen->bound_fraction;
}

// The machine's rate orders machines: the fastest one's climb is drawn.
double best_rate(const Record& record) {
  double rate = 0;
  for (const RecordRow& row : record.rows) rate = std::max(rate, row.gbps);
  return rate;
}

const Record* choose_climb(const OperatorRecords& of) {
  const auto rank = [&of](const Record& record) {
    return std::tuple(record.the_case == of.default_case, is_headline(record));
  };
  const Record* climb = nullptr;
  for (const Record* record : of.shown) {
    if (climb == nullptr || rank(*record) > rank(*climb)) {
      climb = record;
    } else if (rank(*record) == rank(*climb) && record->the_case == climb->the_case) {
      const bool same_machine = record->machine == climb->machine && record->gpu == climb->gpu;
      const bool better =
          same_machine ? flattery(*record) < flattery(*climb) : best_rate(*record) > best_rate(*climb);
      if (better) climb = record;
    }
  }
  return climb;
}

bool is_timed_rung(const RecordRow& row) { return row.timed && row.kind == "rung"; }

auto timed_rungs(const Record& record) {
  return std::count_if(record.rows.begin(), record.rows.end(), is_timed_rung);
}

// Most of its rungs are not in `climb`.
bool is_new(const Record& next, const std::vector<const Record*>& climb) {
  const auto is_there = [&climb](const RecordRow& row) {
    return is_timed_rung(row) && std::any_of(climb.begin(), climb.end(), [&row](const Record* lower) {
             return std::any_of(lower->rows.begin(), lower->rows.end(), [&row](const RecordRow& other) {
               return is_timed_rung(other) && other.rung == row.rung;
             });
           });
  };
  return 2 * std::count_if(next.rows.begin(), next.rows.end(), is_there) < timed_rungs(next);
}

// `first`, and the longest ladders of new rungs.
std::vector<const Record*> climb_from(const std::vector<Record>& records, const Record& first) {
  std::vector<const Record*> longest;
  for (const Record& record : records) {
    if (record.operator_name == first.operator_name && record.gpu == first.gpu &&
        record.machine == first.machine && record.mode == first.mode &&
        record.the_case.shape == first.the_case.shape && record.the_case.dtype != first.the_case.dtype)
      longest.push_back(&record);
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [](const Record* x, const Record* y) { return timed_rungs(*x) > timed_rungs(*y); });
  std::vector<const Record*> climb = {&first};
  for (const Record* next : longest) {
    if (is_new(*next, climb)) climb.push_back(next);
  }
  return climb;
}

// The highest there is, of the modes that bars are read in.
std::vector<const Record*> choose_whole_climb(const std::vector<Record>& records, const OperatorRecords& of) {
  std::vector<const Record*> highest;
  for (const Record& record : records) {
    if (record.operator_name != of.name || !(record.the_case == of.default_case) || !is_headline(record))
      continue;
    std::vector<const Record*> climb = climb_from(records, record);
    if (climb.size() > std::max<std::size_t>(highest.size(), 1)) highest = std::move(climb);
  }
  return highest;
}

}  // namespace

bool is_headline(const Record& record) {
  return record.mode.starts_with("stream-cold") || record.mode == "sustained";
}

const RecordRow* chosen_row(const Record& record) {
  return find_row(record, [](const RecordRow& row) { return row.chosen; });
}

const RecordRow* bound_row(const Record& record) {
  return find_row(record, [](const RecordRow& row) { return row.kind == "bound"; });
}

const RecordRow* fastest_row(const Record& record) {
  return find_fastest(record, [](const RecordRow& row) { return row.is_ours(); });
}

const RecordRow* best_peer(const Record& record) {
  const RecordRow* compared = find_row(record, [](const RecordRow& row) { return !row.peer.empty(); });
  if (compared != nullptr) {
    return find_row(record, [compared](const RecordRow& row) { return row.rung == compared->peer; });
  }
  return find_fastest(record, [](const RecordRow& row) { return row.kind == "peer"; });
}

OperatorRecords choose_records(const std::vector<Record>& records, std::string_view name,
                               RecordCase default_case) {
  OperatorRecords result{std::string(name), std::move(default_case)};
  for (const Record& record : records) {
    if (record.operator_name != name) continue;
    const auto at = std::find_if(result.shown.begin(), result.shown.end(), [&record](const Record* other) {
      return other->gpu == record.gpu && other->machine == record.machine &&
             other->the_case == record.the_case && other->mode == record.mode;
    });
    if (at == result.shown.end()) {
      result.shown.push_back(&record);
    } else if (stale_rows(record) <= stale_rows(**at)) {
      *at = &record;
    }
  }
  const auto is_outdone = [&result](const Record* record) {
    return is_headline(*record) &&
           std::any_of(result.shown.begin(), result.shown.end(), [record](const Record* other) {
             return other != record && is_headline(*other) && other->gpu == record->gpu &&
                    other->machine == record->machine && other->the_case == record->the_case &&
                    std::pair(flattery(*other), other) < std::pair(flattery(*record), record);
           });
  };
  std::vector<const Record*> outdone;
  std::copy_if(result.shown.begin(), result.shown.end(), std::back_inserter(outdone), is_outdone);
  std::erase_if(result.shown, [&outdone](const Record* record) {
    return std::find(outdone.begin(), outdone.end(), record) != outdone.end();
  });
  const RecordCase& usual = result.default_case;
  const auto is_unusual = [&usual](const Record& record) {
    return record.the_case.dtype != usual.dtype || record.the_case.params != usual.params;
  };
  std::stable_sort(result.shown.begin(), result.shown.end(), [&](const Record* x, const Record* y) {
    return std::tuple(x->gpu, is_unusual(*x), -bytes(*x)) < std::tuple(y->gpu, is_unusual(*y), -bytes(*y));
  });
  result.climb = choose_climb(result);
  result.whole_climb = choose_whole_climb(records, result);
  return result;
}

}  // namespace rooftile::lab
