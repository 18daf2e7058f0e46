// Records as a ladder would have left them, for tests of what is made from them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rooftile/lab/ladder/record_choice.h"

namespace rooftile::lab::test {

inline RecordRow made_up_row(std::string rung, double us, double bound_fraction) {
  RecordRow row;
  row.rung = std::move(rung);
  row.kind = "rung";
  row.status = "ok";
  row.timed = true;
  row.median_us = us;
  row.gbps = 4000 * bound_fraction;
  row.tflops = 2;
  row.bound_fraction = bound_fraction;
  return row;
}

inline RecordRow made_up_peer(std::string name, double us, double bound_fraction) {
  RecordRow row = made_up_row(std::move(name), us, bound_fraction);
  row.kind = "peer";
  return row;
}

inline RecordRow made_up_skip(std::string rung, std::string reason) {
  RecordRow row;
  row.rung = std::move(rung);
  row.kind = "rung";
  row.status = "skipped";
  row.reason = std::move(reason);
  return row;
}

inline void compare_with(RecordRow& row, const std::string& peer, double ratio, const std::string& verdict) {
  row.peer = peer;
  row.ratio = ratio;
  row.verdict = verdict;
}

// Naive, vectorized (the library's choice) and a skipped cluster, cub and the bound.
inline Record made_up_record(std::int64_t n, std::string mode = "stream-cold") {
  Record record;
  record.path = "results/h200/fake.json";
  record.gpu = "h200";
  record.machine = "NVIDIA H200";
  record.operator_name = "fake";
  record.the_case = {{{"n", n}}, "f32", {{"mode", "plain"}}, "uniform", 0};
  record.mode = std::move(mode);
  record.commit = "0123456789abcdef0123456789abcdef01234567";
  record.command = "rooftile ladder fake";
  record.read_bytes = 4.0 * static_cast<double>(n);
  record.write_bytes = 4;
  RecordRow naive = made_up_row("naive", 40, 0.25);
  compare_with(naive, "cub", 0.275, "slower");
  RecordRow vectorized = made_up_row("vectorized", 10.5, 0.952);
  vectorized.chosen = true;
  compare_with(vectorized, "cub", 1.042, "faster");
  RecordRow bound = made_up_row("streaming_bound", 10, 1);
  bound.kind = "bound";
  record.rows = {naive, vectorized, made_up_skip("cluster", "needs sm_90a"), made_up_peer("cub", 11, 0.909),
                 bound};
  return record;
}

// With the first record's case as the operator's default.
inline OperatorRecords chosen_of(const std::vector<Record>& records) {
  return choose_records(records, "fake", records.front().the_case);
}

}  // namespace rooftile::lab::test
