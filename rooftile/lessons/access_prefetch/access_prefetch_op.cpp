#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs.h"

namespace rooftile {
namespace {

std::string_view choose(const AccessPrefetchArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "more_warps";
}

}  // namespace

const OperatorDescriptor& access_prefetch_operator() {
  static const OperatorDescriptor op = describe<AccessPrefetchArgs>(
      {.name = "access_prefetch",
       .summary = "a few threads walk over many elements: fetch the next ones before they are needed",
       .maths = "y[i] = x[i] after 8 times v = fma(v, 1/2, 1/4).",
       .model =
           "reads and writes n * 4 bytes. One block of 128 threads per SM leaves each SM 512 bytes on the way at "
           "a time, where some 30 KiB would keep its memory busy: every load that is issued before it is needed "
           "adds to that.",
       .source = "Mattson, Boosting Application Performance with GPU Memory Prefetching (2022)",
       .slots = {in("x", &AccessPrefetchArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessPrefetchArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},

       .choose = choose,
       .rungs = {
           {.rung = access_prefetch_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_prefetch_rungs::no_prefetch,
            .idea = "Load, work, store, next: one load on the way per thread.",
            .change = "the start of the GPU climb: one block of 128 threads per SM",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}},
           {.rung = access_prefetch_rungs::registers_batch,
            .idea = "Four loads into four registers, then four times the work.",
            .change = "a batch of four loads before the work",
            .source = "Mattson 2022",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}},
           {.rung = access_prefetch_rungs::registers_rolling,
            .idea = "Each step loads the element that is four steps ahead: never less than three on the way.",
            .change = "a load per step in place of four at once",
            .source = "Mattson 2022",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}},
           {.rung = access_prefetch_rungs::shared_batch,
            .idea = "The batch waits in shared memory: a thread keeps its own four words side by side.",
            .change = "shared memory in place of registers",
            .source = "Mattson 2022",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4},
                        {"shared_load_conflict_degree", 4, 4},
                        {"shared_store_conflict_degree", 4, 4}}},
           {.rung = access_prefetch_rungs::shared_rolling,
            .idea = "The same words as a ring.",
            .change = "a load per step in place of four at once",
            .source = "Mattson 2022",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4},
                        {"shared_load_conflict_degree", 4, 4},
                        {"shared_store_conflict_degree", 4, 4}}},
           {.rung = access_prefetch_rungs::shared_padded,
            .idea = "Five words per thread in place of four: the lanes of a request lie in 32 banks.",
            .change = "a word of padding per thread",
            .source = "Mattson 2022",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4},
                        {"shared_load_conflict_degree", 1, 1},
                        {"shared_store_conflict_degree", 1, 1}}},
           {.rung = access_prefetch_rungs::async_copies,
            .idea =
                "Copies go from global to shared memory past the registers, and a wait in place of a stall.",
            .change = "cp.async into a ring whose lanes lie side by side",
            .source = "PTX ISA, cp.async",
            .expects = {{"bytes_moved_over_needed", 1, 1},
                        {"global_store_sectors_per_request", 4, 4},
                        {"shared_load_conflict_degree", 1, 1}}},
           {.rung = access_prefetch_rungs::more_warps,
            .idea = "No prefetch, but as many threads as the GPU holds: warps wait in turns.",
            .change = "2048 threads per SM in place of 128",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}}}});
  return op;
}

ROOFTILE_REGISTER(access_prefetch)

}  // namespace rooftile
