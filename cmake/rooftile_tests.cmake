# Test programs and the tests that are scripts.
find_package(GTest REQUIRED)
include(GoogleTest)

# Sanitizer reports and a simulator that hangs end the test, not the machine's patience.
set(test_timeout 300)
set(test_environment)
if(ROOFTILE_SANITIZE)
  set(test_timeout 900)
  set(test_environment "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
                       "UBSAN_OPTIONS=print_stacktrace=1")
endif()

# rooftile_operator_filter(VARIABLE OPERATOR): GoogleTest's filter for the tests that concern one operator: suites that
# begin with its name in PascalCase and "Test" (ReduceTest), and tests of every operator, whose parameter it is.
function(rooftile_operator_filter variable op)
  string(REPLACE "_" ";" words ${op})
  set(pascal)
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND pascal ${first}${rest})
  endforeach()
  set(${variable} "${pascal}Test*:*/${pascal}Test*:*/${op}" PARENT_SCOPE)
endfunction()

# rooftile_add_tests(NAME [BY_OPERATOR] LIBRARIES... SOURCES files...): a GoogleTest program whose tests ctest lists one
# by one; nothing where there are no files. Discovered when ctest runs: a build must not run what it built. BY_OPERATOR:
# the tests of an operator carry the label op:NAME, its long ones long:op:NAME.
function(rooftile_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_OPERATOR" "" "LIBRARIES;SOURCES")
  if(NOT arg_SOURCES)
    return()
  endif()
  rooftile_add_program(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  rooftile_discover_tests(${name} "${arg_BY_OPERATOR}")
endfunction()

# rooftile_discover_labelled(NAME FILTER [LABEL]): tells ctest of the tests that the filter takes. One label at most:
# gtest_discover_tests flattens lists. That cuts off all but the first value of the environment, too, which stands last.
function(rooftile_discover_labelled name filter)
  set(properties TIMEOUT ${test_timeout})
  if(ARGN)
    list(APPEND properties LABELS ${ARGN})
  endif()
  if(test_environment)
    list(APPEND properties ENVIRONMENT ${test_environment})
  endif()
  # Named parameters are what a name shows: without NO_PRETTY_VALUES their values stand behind them.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES
    TEST_FILTER "${filter}" PROPERTIES ${properties})
endfunction()

# Tests of an instantiation that is called Long run by `rt test --all` alone.
function(rooftile_discover_tests name by_operator)
  set(others)
  if(by_operator)
    foreach(op IN LISTS rooftile_operators)
      rooftile_operator_filter(filter ${op})
      rooftile_discover_labelled(${name} "${filter}:-Long/*" op:${op})
      rooftile_discover_labelled(${name} "Long/*/${op}" long:op:${op})
      list(APPEND others ${filter})
    endforeach()
  endif()
  list(JOIN others ":" others)
  rooftile_discover_labelled(${name} "-Long/*:${others}")
endfunction()

# rooftile_add_script_test(NAME COMMAND... [TIMEOUT s] [OPERATOR op] [LONG]): `rt test` leaves out what is LONG.
function(rooftile_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "TIMEOUT;OPERATOR" "COMMAND")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${test_timeout})
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${test_environment}")
  set(label)
  if(arg_LONG)
    list(APPEND label long)
  endif()
  if(arg_OPERATOR)
    list(APPEND label op:${arg_OPERATOR})
  endif()
  list(JOIN label ":" label)
  if(label)
    set_property(TEST ${name} PROPERTY LABELS ${label})
  endif()
endfunction()

set(tests_dir ${PROJECT_SOURCE_DIR}/tests)

file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/core/*.cpp)
set(cuda_test_sources ${sources})
list(FILTER sources EXCLUDE REGEX "/cuda_[^/]*_test\\.cpp$")
list(FILTER cuda_test_sources INCLUDE REGEX "/cuda_[^/]*_test\\.cpp$")
rooftile_add_tests(rooftile_core_tests SOURCES ${sources} LIBRARIES rooftile)

# Tests of a functor header, device/[cuda_]OP_functor*: only where the operator is built. Drops the others from a list.
function(rooftile_drop_unbuilt_functors list)
  set(left ${${list}})
  foreach(op IN LISTS rooftile_known_operators)
    if(NOT op IN_LIST rooftile_operators)
      list(FILTER left EXCLUDE REGEX "/(cuda_)?${op}_functor[^/]*$")
    endif()
  endforeach()
  set(${list} ${left} PARENT_SCOPE)
endfunction()

# Small operators, one of each kind that the lab judges.
file(GLOB kinds CONFIGURE_DEPENDS ${tests_dir}/lab/kinds/*.cpp)
file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/lab/kinds/*.cu)
rooftile_add_sim_objects(rooftile_kinds_sim ${kernels})
if(ROOFTILE_WITH_CUDA)
  rooftile_add_cuda_objects(rooftile_kinds_cuda 90a-real ${kernels})
  # One program that can be carried to a GPU machine; here its tests skip and say so.
  file(GLOB device_tests CONFIGURE_DEPENDS ${tests_dir}/device/cuda_*_test.cpp ${tests_dir}/device/blocks/*_test.cpp)
  list(FILTER device_tests EXCLUDE REGEX "/blocks/sim_[^/]*_test\\.cpp$")
  file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/device/*.cu ${tests_dir}/device/blocks/*.cu)
  rooftile_drop_unbuilt_functors(device_tests)
  rooftile_drop_unbuilt_functors(kernels)
  rooftile_add_cuda_objects(rooftile_device_tests_cuda 90a-real ${kernels})
  target_compile_definitions(rooftile_device_tests_cuda PRIVATE ROOFTILE_TARGET=cuda)
  file(GLOB lab_cuda_tests CONFIGURE_DEPENDS ${tests_dir}/lab/cuda_*_test.cpp)
  rooftile_add_tests(rooftile_cuda_tests SOURCES ${cuda_test_sources} ${device_tests} ${lab_cuda_tests} ${kinds}
    LIBRARIES rooftile_lab rooftile TBB::tbb)
  if(TARGET rooftile_cuda_tests)
    target_compile_definitions(rooftile_cuda_tests PRIVATE ROOFTILE_TARGET=cuda)
    rooftile_link_objects(rooftile_cuda_tests rooftile_device_tests_cuda rooftile_kinds_cuda rooftile_kinds_sim)
  endif()
endif()

# The kernels of the simulator's tests: run by g++, and compiled by nvcc to be sure that they are CUDA.
file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/sim/*.cpp)
file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/sim/*.cu)
rooftile_add_sim_objects(rooftile_sim_test_kernels ${kernels})
rooftile_add_tests(rooftile_sim_tests SOURCES ${sources} LIBRARIES rooftile_sim_checked rooftile)
rooftile_add_script_test(sim.refusals COMMAND ${tests_dir}/sim/refusals_test ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR})
if(TARGET rooftile_sim_tests)
  rooftile_link_objects(rooftile_sim_tests rooftile_sim_test_kernels)
endif()
if(ROOFTILE_WITH_CUDA)
  rooftile_add_cuda_objects(rooftile_sim_test_kernels_cuda 90a-real ${kernels})
endif()

# Kernels whose metrics are known by hand, kernels with a planted bug each, those that prove device/sm80 and
# device/sm90a, and those of the plain build whose accesses are judged here.
file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/checked/*.cpp)
file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/checked/*.cu ${tests_dir}/checked/corpus/*.cu)
rooftile_add_checked_object(rooftile_checked_test_kernels ${kernels} ${tests_dir}/device/sm90a_bulk.cu
  ${tests_dir}/device/sm90a_cluster.cu ${tests_dir}/device/sm90a_look_ahead.cu ${tests_dir}/device/sm90a_rows.cu
  ${tests_dir}/device/sm90a_tma.cu ${tests_dir}/device/sm90a_wgmma.cu ${tests_dir}/device/blocks/cp_async_kernels.cu ${tests_dir}/sim/storage_kernels.cu ${tests_dir}/sim/texture_kernels.cu)
if(TARGET rooftile_checked_test_kernels)
  rooftile_add_tests(rooftile_checked_tests SOURCES ${sources} LIBRARIES rooftile_sim_checked rooftile)
  rooftile_link_checked(rooftile_checked_tests rooftile_checked_test_kernels)
  target_compile_definitions(rooftile_checked_tests PRIVATE ROOFTILE_CORPUS_DIR="${tests_dir}/checked/corpus")
endif()
if(ROOFTILE_WITH_CUDA)
  rooftile_add_cuda_objects(rooftile_checked_test_kernels_cuda 90a-real ${kernels})
endif()

# device/blocks: the same tests and kernels in both programs, but for cuda_* and sim_*.
file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/device/*_test.cpp ${tests_dir}/device/blocks/*_test.cpp)
list(FILTER sources EXCLUDE REGEX "/cuda_[^/]*_test\\.cpp$")
file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/device/*.cu ${tests_dir}/device/blocks/*.cu)
list(FILTER kernels EXCLUDE REGEX "/blocks/cuda_[^/]*\\.cu$")
rooftile_drop_unbuilt_functors(sources)
rooftile_drop_unbuilt_functors(kernels)
rooftile_add_sim_objects(rooftile_device_tests_sim ${kernels})
rooftile_add_tests(rooftile_device_tests SOURCES ${sources} LIBRARIES rooftile_sim rooftile)
if(TARGET rooftile_device_tests)
  target_compile_definitions(rooftile_device_tests PRIVATE ROOFTILE_TARGET=sim ROOFTILE_TEST_SIM)
  rooftile_link_objects(rooftile_device_tests rooftile_device_tests_sim)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/lab/*.cpp ${tests_dir}/cases/*.cpp)
list(FILTER sources EXCLUDE REGEX "/cuda_[^/]*_test\\.cpp$")
rooftile_add_tests(rooftile_lab_tests SOURCES ${sources} ${kinds}
  LIBRARIES rooftile_lab rooftile_lab_ops rooftile_lessons rooftile_sim_checked rooftile nlohmann_json::nlohmann_json TBB::tbb)
file(GLOB kernels CONFIGURE_DEPENDS ${tests_dir}/lab/*.cu)
rooftile_add_sim_objects(rooftile_lab_test_kernels ${kernels} ${PROJECT_SOURCE_DIR}/rooftile/lab/case/device_fill.cu)
if(TARGET rooftile_lab_tests)
  rooftile_link_objects(rooftile_lab_tests rooftile_lab_test_kernels rooftile_kinds_sim rooftile_kinds_cuda)
  rooftile_link_simulated_operators(rooftile_lab_tests)
  target_compile_definitions(rooftile_lab_tests PRIVATE ROOFTILE_TESTS_DIR="${tests_dir}")
endif()
if(ROOFTILE_WITH_CUDA)
  rooftile_add_cuda_objects(rooftile_lab_test_kernels_cuda 90a-real ${kernels})
endif()

file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/cli/*.cpp)
rooftile_add_tests(rooftile_cli_tests SOURCES ${sources} LIBRARIES rooftile nlohmann_json::nlohmann_json)
if(TARGET rooftile_cli_tests)
  target_compile_definitions(rooftile_cli_tests PRIVATE ROOFTILE_CLI_PATH="$<TARGET_FILE:rooftile_cli>"
                                                        ROOFTILE_TESTS_DIR="${tests_dir}")
  add_dependencies(rooftile_cli_tests rooftile_cli)
endif()

# What is asked of every operator, and what is special to one.
file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/operators/*.cpp)
list(FILTER sources EXCLUDE REGEX "/cuda_[^/]*_test\\.cpp$")
if(NOT ROOFTILE_CHECKED)
  list(FILTER sources EXCLUDE REGEX "/checked_[^/]*_test\\.cpp$")
endif()
rooftile_add_tests(rooftile_operator_tests BY_OPERATOR SOURCES ${sources}
  LIBRARIES rooftile_lab rooftile_lab_ops rooftile_lessons rooftile_sim_checked rooftile)
rooftile_link_simulated_operators(rooftile_operator_tests)
target_compile_definitions(rooftile_operator_tests PRIVATE ROOFTILE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
if(ROOFTILE_CHECKED)
  rooftile_link_checked_operators(rooftile_operator_tests)
  target_compile_definitions(rooftile_operator_tests PRIVATE ROOFTILE_TEST_CHECKED)
  foreach(op IN LISTS rooftile_operators)
    get_target_property(object rooftile_op_${op}_checked ROOFTILE_CHECKED_OBJECT)
    rooftile_add_script_test(checked.linkage.${op} OPERATOR ${op} COMMAND ${tests_dir}/checked/linkage_test ${object}
      $<TARGET_FILE:rooftile> $<TARGET_FILE:rooftile_sim> $<TARGET_FILE:rooftile_sim_checked> $<TARGET_FILE:rooftile_lab>
      $<TARGET_FILE:rooftile_lab_ops>)
  endforeach()
endif()

# With what needs a GPU of every operator: this program can be carried to one.
file(GLOB op_tests CONFIGURE_DEPENDS ${tests_dir}/operators/cuda_*_test.cpp)
if(NOT ROOFTILE_WITH_CUDA)
  set(op_tests)
endif()
foreach(op IN LISTS rooftile_operators)
  list(APPEND op_tests ${${op}_tests})
endforeach()
rooftile_add_tests(rooftile_ops_tests BY_OPERATOR SOURCES ${op_tests}
  LIBRARIES rooftile_lab rooftile_lab_ops rooftile_lessons rooftile_sim_checked rooftile)
if(TARGET rooftile_ops_tests)
  rooftile_link_simulated_operators(rooftile_ops_tests)
endif()

# What the tests of one operator are made of (`rt test --op OP`).
foreach(op IN LISTS rooftile_operators)
  add_custom_target(rooftile_test_${op} DEPENDS rooftile_cli rooftile_operator_tests)
  if(${op}_tests OR ROOFTILE_WITH_CUDA)
    add_dependencies(rooftile_test_${op} rooftile_ops_tests)
  endif()
endforeach()

# Every case of every rung. Large ones (CaseTier::full) are for a GPU's grids: the CPU's rungs and the references have
# them in the long tests. Lanes run forward and reversed: each order finds missing barriers that the other hides. Of the
# reversed order `rt test` takes a sample, and so do the sanitizers, which look for other faults, of the forward one and of
# the CPU's cases.
function(rooftile_add_sim_test name op order)
  rooftile_add_script_test(${name} OPERATOR ${op} ${ARGN})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ROOFTILE_SIM_ORDER=${order})
endfunction()
foreach(op IN LISTS rooftile_operators)
  set(verify_sim COMMAND rooftile_cli verify ${op} --device sim)
  set(verify_cpu COMMAND rooftile_cli verify ${op} --device cpu --tier)
  if(ROOFTILE_SANITIZE)
    rooftile_add_script_test(verify.${op}.cpu OPERATOR ${op} ${verify_cpu} quick --every 3)
    rooftile_add_sim_test(verify.${op}.sim.forward ${op} forward ${verify_sim} --every 7)
  else()
    rooftile_add_script_test(verify.${op}.cpu OPERATOR ${op} ${verify_cpu} quick)
    rooftile_add_script_test(verify.${op}.cpu.full OPERATOR ${op} ${verify_cpu} full LONG)
    rooftile_add_sim_test(verify.${op}.sim.forward ${op} forward ${verify_sim})
    rooftile_add_sim_test(verify.${op}.sim.reversed ${op} reversed ${verify_sim} --every 4)
    rooftile_add_sim_test(verify.${op}.sim.reversed.all ${op} reversed ${verify_sim} LONG)
  endif()
endforeach()

include(${tests_dir}/lab/lab.cmake)
include(${tests_dir}/quality/quality.cmake)
include(${tests_dir}/consumer/consumer.cmake)

# The examples that docs/calling.md shows, of the operators that this build has; each checks its own result.
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS examples)
  cmake_path(GET source STEM example)
  file(STRINGS ${source} wanted REGEX "^#include \"rooftile/ops/")
  list(TRANSFORM wanted REPLACE ".*/([a-z0-9_]+)\\.h\"" "\\1")
  list(REMOVE_ITEM wanted ${rooftile_library_operators})
  if(NOT wanted)
    rooftile_add_program(example_${example} ${source})
    target_link_libraries(example_${example} PRIVATE rooftile)
    add_test(NAME examples.${example} COMMAND example_${example} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(examples.${example} PROPERTIES TIMEOUT ${test_timeout} ENVIRONMENT "${test_environment}")
  endif()
endforeach()
