# Checks of the tree itself.

# rooftile_add_header_checks(TARGET HEADERS...): every header compiles alone, and twice.
function(rooftile_add_header_checks target)
  if(NOT ARGN)
    return()
  endif()
  set(generated)
  foreach(header IN LISTS ARGN)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE include_path)
    set(file ${PROJECT_BINARY_DIR}/header_checks/${include_path}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${include_path}\"\n#include \"${include_path}\"\n")
    list(APPEND generated ${file})
  endforeach()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${generated})
  rooftile_configure_target(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -O0)
endfunction()

file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/*.h ${PROJECT_SOURCE_DIR}/cli/*.h)
# Names that kernels include; some refuse (tests/sim/refusals_test).
list(FILTER headers EXCLUDE REGEX "/rooftile/sim/cuda_headers/")
# They need a toolkit: the peers that are built with it include them.
list(FILTER headers EXCLUDE REGEX "/rooftile/peers/")
# Kernel headers know the device qualifiers of their target; the arch-specific ones are nvcc's alone.
set(kernel_headers)
foreach(header IN LISTS headers)
  file(STRINGS ${header} device_includes REGEX "^#include \"rooftile/device/")
  if(device_includes OR header MATCHES "/rooftile/(device|(ops|families)/[^/]+/rungs)/")
    list(APPEND kernel_headers ${header})
  endif()
endforeach()
list(REMOVE_ITEM headers ${kernel_headers})
# The CUDA side of device/ needs a toolkit; the kernels that nvcc compiles include it.
list(FILTER kernel_headers EXCLUDE REGEX "/rooftile/device/(.*/)?cuda_[^/]*\\.h$")

# What the CPU rungs share knows their target.
set(cpu_headers ${kernel_headers})
list(FILTER cpu_headers INCLUDE REGEX "_cpu\\.h$")
if(cpu_headers)
  list(REMOVE_ITEM kernel_headers ${cpu_headers})
endif()

rooftile_add_header_checks(rooftile_header_checks ${headers})
target_link_libraries(rooftile_header_checks PRIVATE rooftile fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
rooftile_add_header_checks(rooftile_kernel_header_checks ${kernel_headers})
target_compile_definitions(rooftile_kernel_header_checks PRIVATE ROOFTILE_TARGET=sim ROOFTILE_SIM=1)
target_compile_options(rooftile_kernel_header_checks PRIVATE -Wno-unknown-pragmas)
target_include_directories(rooftile_kernel_header_checks BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/rooftile/sim/cuda_headers)
rooftile_add_header_checks(rooftile_cpu_header_checks ${cpu_headers})
target_compile_definitions(rooftile_cpu_header_checks PRIVATE ROOFTILE_TARGET=cpu)

# Two hundred units: a sixth of what a fresh tree compiles.
rooftile_add_script_test(quality.headers LONG TIMEOUT 1800 COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
  --target rooftile_header_checks rooftile_kernel_header_checks rooftile_cpu_header_checks)

rooftile_add_script_test(quality.layers COMMAND ${PROJECT_SOURCE_DIR}/tools/check_layers)
rooftile_add_script_test(quality.layers_can_fail COMMAND ${tests_dir}/quality/layers_can_fail)
rooftile_add_script_test(quality.stale COMMAND ${tests_dir}/quality/stale_test)
# Whoever changed the measuring code has decided what that means for the records.
rooftile_add_script_test(quality.timing_version COMMAND ${PROJECT_SOURCE_DIR}/tools/check_timing_version)
rooftile_add_script_test(quality.proof COMMAND ${tests_dir}/quality/proof_test)
# The pages show the examples as they are.
rooftile_add_script_test(quality.quotes COMMAND ${PROJECT_SOURCE_DIR}/tools/quote --check)
rooftile_add_script_test(quality.budgets COMMAND ${tests_dir}/quality/budgets_test)
rooftile_add_script_test(quality.test_names COMMAND ${tests_dir}/quality/test_names)
rooftile_add_script_test(quality.rt COMMAND ${tests_dir}/quality/rt_test)
rooftile_add_script_test(quality.device_record COMMAND ${tests_dir}/quality/device_record_test)
# No rung stands on a wrapper that no GPU has tested.
rooftile_add_script_test(quality.wrappers COMMAND ${PROJECT_SOURCE_DIR}/tools/check_wrappers)
rooftile_add_script_test(quality.gpu_record COMMAND ${tests_dir}/quality/gpu_record_test)
find_program(PYTHON3 python3)
if(PYTHON3)
  rooftile_add_script_test(quality.torch COMMAND ${tests_dir}/quality/torch_test $<TARGET_FILE:rooftile_cli>)
endif()
# The tables of the READMEs are what the records give.
rooftile_add_script_test(quality.tables COMMAND rooftile_cli table --check --root ${PROJECT_SOURCE_DIR})
# The recorded profiles are what the simulated SM counts with the usual optimisation of the kernels.
if(TARGET rooftile_checked_test_kernels AND ROOFTILE_CHECKED_OPTIMISATION STREQUAL "-O1")
  rooftile_add_script_test(quality.profiles COMMAND ${tests_dir}/quality/profile_records_test $<TARGET_FILE:rooftile_cli>)
endif()
if(ROOFTILE_SLOW_TESTS)
  rooftile_add_script_test(quality.new_op LONG TIMEOUT 1800
    COMMAND ${tests_dir}/quality/new_op_test ${PROJECT_BINARY_DIR}/new_op_test)
endif()
