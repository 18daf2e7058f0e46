# The checked simulator, lab, cases, peers, and the program.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# From debug information to lines; comes with g++ (Debian's libgcc-12-dev).
find_library(ROOFTILE_BACKTRACE backtrace PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
include(CheckIncludeFileCXX)
check_include_file_cxx(backtrace.h ROOFTILE_HAS_BACKTRACE_H)
if(NOT ROOFTILE_BACKTRACE OR NOT ROOFTILE_HAS_BACKTRACE_H)
  message(FATAL_ERROR "libbacktrace was not found: it comes with Debian's g++; elsewhere install it, or pass "
                      "-DROOFTILE_BACKTRACE=.../libbacktrace.a and -DCMAKE_CXX_FLAGS=-I...")
endif()

file(GLOB sim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/sim/checked/*.cpp)
rooftile_add_library(rooftile_sim_checked ${sim_sources})
target_link_libraries(rooftile_sim_checked PUBLIC rooftile_sim PRIVATE ${ROOFTILE_BACKTRACE})
target_compile_options(rooftile_sim_checked PRIVATE -UNDEBUG)
set_source_files_properties(${PROJECT_SOURCE_DIR}/rooftile/sim/checked/source_lines.cpp PROPERTIES
  COMPILE_DEFINITIONS "ROOFTILE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")

# The lessons: operators in every respect but that nobody installs them.
rooftile_add_library(rooftile_lessons ${rooftile_generated}/register_all_lessons.cpp)
target_link_libraries(rooftile_lessons PUBLIC rooftile)
rooftile_add_operator_objects(rooftile_lessons ${rooftile_lessons})
rooftile_add_operator_sim_objects(${rooftile_lessons})
rooftile_add_operator_lab_objects(${rooftile_library_operators} ${rooftile_lessons})

# The commit and the digests change without any source of ours changing, so this runs in every build; the files
# change only with their content.
set(build_info_dir ${PROJECT_BINARY_DIR}/build_info)
add_custom_target(rooftile_build_info_files ALL
  COMMAND ${PROJECT_SOURCE_DIR}/tools/write_build_info ${build_info_dir}
  BYPRODUCTS ${build_info_dir}/rooftile_build_info.inc ${build_info_dir}/rooftile_build_commit.inc
  COMMENT "" VERBATIM)

# What the cases of operators are made of: draws, references' helpers, judges.
file(GLOB cases_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/cases/*.cpp)
rooftile_add_library(rooftile_cases ${cases_sources})
target_link_libraries(rooftile_cases PUBLIC rooftile PRIVATE fmt::fmt TBB::tbb)

file(GLOB lab_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/lab/*/*.cpp)
file(GLOB lab_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/lab/*/*.cu)
if(ROOFTILE_WITH_CUDA)
  list(FILTER lab_sources EXCLUDE REGEX "_absent\\.cpp$")
  set(lab_kernels_sm90a ${lab_kernels})
  list(FILTER lab_kernels_sm90a INCLUDE REGEX "\\.sm90a\\.cu$")
  list(FILTER lab_kernels EXCLUDE REGEX "\\.sm90a\\.cu$")
  rooftile_archs(archs_portable 0)
  rooftile_add_cuda_objects(rooftile_lab_cuda "${archs_portable}" ${lab_kernels})
  rooftile_add_cuda_objects(rooftile_lab_cuda_sm90a 90a-real ${lab_kernels_sm90a})
endif()
# The rooms that write what the others found run once in a while: -O2 costs them half as much again to compile.
set(lab_report_sources ${lab_sources})
list(FILTER lab_report_sources INCLUDE REGEX "/(ladder|inspect|profile|simulate)/[a-z_]+\\.cpp$")
list(REMOVE_ITEM lab_sources ${lab_report_sources})
add_library(rooftile_lab_reports OBJECT ${lab_report_sources})
rooftile_configure_target(rooftile_lab_reports)
target_compile_options(rooftile_lab_reports PRIVATE -O1)
rooftile_add_library(rooftile_lab ${lab_sources})
rooftile_link_objects(rooftile_lab rooftile_lab_reports rooftile_lab_cuda rooftile_lab_cuda_sm90a)
# -fpch-preprocess: for ccache. g++ 12 has false alarms inside of std::string, which it tells where a standard header was
# precompiled.
set(rooftile_pch_options "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overread;-Wno-restrict>")
foreach(target IN ITEMS rooftile_lab rooftile_lab_reports)
  target_link_libraries(${target} PUBLIC rooftile_cases rooftile rooftile_sim_checked fmt::fmt
                        PRIVATE nlohmann_json::nlohmann_json TBB::tbb ${CMAKE_DL_LIBS})
  target_include_directories(${target} PRIVATE ${build_info_dir})
  # Two thirds of the lab's compile time were spent on these two headers, again and again.
  target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<fmt/format.h>>"
                            "$<$<COMPILE_LANGUAGE:CXX>:<nlohmann/json.hpp>>")
  target_compile_options(${target} PRIVATE ${rooftile_pch_options})
  add_dependencies(${target} rooftile_build_info_files)
endforeach()
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(cuda_compiler)
if(ROOFTILE_WITH_CUDA)
  list(JOIN ROOFTILE_CUDA_ARCHS " " archs)
  set(cuda_compiler ";ROOFTILE_CUDA_COMPILER=\"nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${archs}\"")
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/rooftile/lab/base/build_info.cpp PROPERTIES
  COMPILE_DEFINITIONS "ROOFTILE_COMPILER_FLAGS=\"${CMAKE_CXX_FLAGS_${build_type}}\"${cuda_compiler}"
  COMPILE_OPTIONS "-include;${build_info_dir}/rooftile_build_commit.inc"
  OBJECT_DEPENDS ${build_info_dir}/rooftile_build_commit.inc)
set_source_files_properties(${PROJECT_SOURCE_DIR}/rooftile/lab/base/source_parts.cpp PROPERTIES
  OBJECT_DEPENDS ${build_info_dir}/rooftile_build_info.inc)

# `inspect` compiles a rung's source as the release build does, whatever this build is.
list(JOIN rooftile_kernel_options " " kernel_flags)
set_source_files_properties(${PROJECT_SOURCE_DIR}/rooftile/lab/inspect/device_compiler.cpp PROPERTIES COMPILE_DEFINITIONS
  "ROOFTILE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";ROOFTILE_KERNEL_FLAGS=\"${kernel_flags} ${CMAKE_CUDA_FLAGS_RELEASE}\"")

rooftile_add_library(rooftile_lab_ops ${rooftile_generated}/register_all_cases.cpp)
set(lab_objects ${rooftile_library_operators} ${rooftile_lessons})
list(TRANSFORM lab_objects REPLACE "(.+)" "rooftile_op_\\1_lab")
rooftile_link_objects(rooftile_lab_ops ${lab_objects})
target_link_libraries(rooftile_lab_ops PUBLIC rooftile_cases rooftile)

file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
rooftile_add_program(rooftile_cli ${cli_sources})
set_target_properties(rooftile_cli PROPERTIES OUTPUT_NAME rooftile)
# Options and messages: nothing here runs often, and -O2 doubles what the headers cost.
target_precompile_headers(rooftile_cli PRIVATE <CLI/CLI.hpp> <fmt/format.h> <nlohmann/json.hpp>)
target_compile_options(rooftile_cli PRIVATE -O1 ${rooftile_pch_options})
rooftile_link_simulated_operators(rooftile_cli)
rooftile_link_checked_operators(rooftile_cli)
target_link_libraries(rooftile_cli PRIVATE rooftile_lab rooftile_lab_ops rooftile_lessons rooftile_sim_checked rooftile fmt::fmt
                      CLI11::CLI11 nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})

# What a child process of the lab runs stands beside the program.
file(GLOB peer_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/lab/peer_process/*.py)
foreach(op IN LISTS rooftile_library_operators rooftile_lessons)
  file(GLOB scripts CONFIGURE_DEPENDS ${${op}_folder}/${op}_peers_*.py)
  list(APPEND peer_scripts ${scripts})
endforeach()
set(peers_dir $<TARGET_FILE_DIR:rooftile_cli>/peers)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/peer_scripts.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${peers_dir}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${peers_dir}
  COMMAND ${CMAKE_COMMAND} -E copy ${peer_scripts} ${peers_dir}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/peer_scripts.stamp
  DEPENDS ${peer_scripts} COMMENT "" VERBATIM)
add_custom_target(rooftile_peer_scripts DEPENDS ${PROJECT_BINARY_DIR}/peer_scripts.stamp)
add_dependencies(rooftile_cli rooftile_peer_scripts)

# Others' libraries are opponents only: a plugin each, so that the program starts where they are absent.
set(rooftile_host_vendors std tbb openblas)
find_package(OpenBLAS CONFIG QUIET)
set(rooftile_plugins)
foreach(vendor IN LISTS rooftile_peer_vendors)
  set(is_host FALSE)
  if(vendor IN_LIST rooftile_host_vendors)
    set(is_host TRUE)
  endif()
  if(NOT rooftile_peer_operators_${vendor} OR (NOT is_host AND NOT ROOFTILE_WITH_CUDA)
     OR (vendor STREQUAL "cub_newest" AND NOT ROOFTILE_CCCL_DIR) OR (vendor STREQUAL "openblas" AND NOT OpenBLAS_FOUND))
    continue()
  endif()
  set(plugin rooftile_peers_${vendor})
  if(is_host)
    set(plugin rooftile_host_peers_${vendor})
  endif()
  set(peers)
  foreach(op IN LISTS rooftile_peer_operators_${vendor})
    list(APPEND peers ${${op}_peers_${vendor}})
  endforeach()
  add_library(${plugin} MODULE ${peers} ${rooftile_generated}/register_peers_${vendor}.cpp)
  rooftile_configure_target(${plugin})
  target_link_libraries(${plugin} PRIVATE rooftile)
  if(vendor STREQUAL "openblas")
    target_link_libraries(${plugin} PRIVATE ${OpenBLAS_LIBRARIES})
    target_include_directories(${plugin} SYSTEM PRIVATE ${OpenBLAS_INCLUDE_DIRS})
  elseif(is_host)
    target_link_libraries(${plugin} PRIVATE TBB::tbb)
  elseif(vendor STREQUAL "cublaslt")
    target_link_libraries(${plugin} PRIVATE CUDA::cublasLt CUDA::cudart_static)
  elseif(TARGET CUDA::${vendor})
    target_link_libraries(${plugin} PRIVATE CUDA::${vendor})
  endif()
  if(vendor STREQUAL "cub_newest")
    target_include_directories(${plugin} BEFORE PRIVATE ${ROOFTILE_CCCL_DIR})
  endif()
  # The plugin's copy of the core stays its own: only the entry point is visible.
  set_target_properties(${plugin} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden CUDA_ARCHITECTURES "${ROOFTILE_CUDA_ARCHS}")
  target_link_options(${plugin} PRIVATE -Wl,--exclude-libs,ALL)
  add_dependencies(rooftile_cli ${plugin})
  list(APPEND rooftile_plugins ${plugin})
endforeach()
