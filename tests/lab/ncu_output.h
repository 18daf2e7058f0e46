// What Nsight Compute 2025.3 wrote for `rooftile profile reduce/vectorized` on an H200, with fewer metrics.
#pragma once

#include <string_view>

namespace rooftile::lab {

// clang-format off
inline constexpr std::string_view kNcuOutput =
R"ncu(==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.
==PROF== Connected to process 1959 (rooftile)
{"shape":{"n":"1048576"},"dtype":"f32","args":{"op":"sum","axes":"all","keepdims":"false","out_dtype":"default"},"fill":"uniform","offset":0,"seed":1,"gpu":"NVIDIA H200","compute_capability":90,"multiprocessors":132}
==PROF== Disconnected from process 1959
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes.sum.per_second","gpc__cycles_elapsed.avg.per_second","gpu__time_duration.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_requests_pipe_lsu_mem_global_op_st.sum","l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum","l1tex__t_requests_pipe_lsu_mem_global_op_red.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum","launch__occupancy_limit_blocks","launch__occupancy_limit_registers","launch__occupancy_limit_shared_mem","launch__occupancy_limit_warps","launch__tpc_enabled","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_selected_per_issue_active.ratio","smsp__inst_executed.sum","smsp__sass_inst_executed_op_shared_ld.sum","smsp__sass_inst_executed_op_shared_st.sum","smsp__thread_inst_executed.sum"
"","","","","","","","","","","","byte/s","hz","ns","","","","","","","sector","sector","sector","sector","block","block","block","block","","inst","inst","inst","inst","inst","inst","inst"
"0","1959","rooftile","host","void unnamed>::vectorized_kernel<Sum<float>>(const float *, long, int, float *)","1","13","(512, 1, 1)","(256, 1, 1)","0","9.0","1,094,133,333,333.33","1,963,541,666.67","3,840","256","4,096","8,192","256","0","0","131,072","256","0","0","32","2","7","4","all","2.81","10.45","1","608,448","256","4,096","19,438,592"
"1","1959","rooftile","host","void unnamed>::combine_partials_kernel<Sum<float>>(const float *, long, float *)","1","13","(512, 1, 1)","(1, 1, 1)","0","9.0","3,314,285,714.29","1,951,506,696.43","2,240","1","16","8","1","0","0","32","1","0","0","32","4","14","4","all","5.73","4.26","1","982","1","16","31,331"
)ncu";
// clang-format on

}  // namespace rooftile::lab
