# What every target of this project has in common.

# Flags that are ours and are not passed on to who links the target.
function(rooftile_configure_target target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${rooftile_cxx_options}>"
                                           "$<$<COMPILE_LANGUAGE:CUDA>:${rooftile_cuda_options}>")
  set_target_properties(${target} PROPERTIES ROOFTILE_OWN ON)
endfunction()

# rooftile_add_library(TARGET FILES...): a static library of host sources.
function(rooftile_add_library target)
  add_library(${target} STATIC ${ARGN})
  rooftile_configure_target(${target})
endfunction()

# rooftile_add_program(TARGET FILES...)
function(rooftile_add_program target)
  add_executable(${target} ${ARGN})
  rooftile_configure_target(${target})
  target_link_options(${target} PRIVATE ${rooftile_link_options})
  # g++ links: the CUDA objects come with the static libraries, and no device code is linked across objects.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# rooftile_add_cuda_objects(TARGET "ARCHS" FILES...): kernels by nvcc; no target where there are no files.
function(rooftile_add_cuda_objects target archs)
  if(NOT ARGN)
    return()
  endif()
  add_library(${target} OBJECT ${ARGN})
  rooftile_configure_target(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ROOFTILE_WITH_CUDA)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${archs}")
endfunction()

# rooftile_add_sim_objects(TARGET FILES.cu...): the same sources by g++ for the simulated SM, each through a
# generated file that includes it. Never by LANGUAGE CXX on the source: that reaches every target of the directory.
function(rooftile_add_sim_objects target)
  if(NOT ARGN)
    return()
  endif()
  rooftile_generate_sim_sources(generated sim ${ARGN})
  add_library(${target} OBJECT ${generated})
  rooftile_configure_target(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/rooftile/sim/cuda_headers)
  target_compile_definitions(${target} PRIVATE ROOFTILE_TARGET=sim ROOFTILE_SIM=1)
  rooftile_configure_simulated(${target})
endfunction()

# What both targets of the simulated SM have in common.
function(rooftile_configure_simulated target)
  # A thread has 512 KiB of local memory. AddressSanitizer puts more beside each array.
  set(limits -fstack-clash-protection)
  if(NOT ROOFTILE_SANITIZE)
    list(APPEND limits -Werror=frame-larger-than=524288)
  endif()
  # A kernel's assertions are what the simulator is for: on in every build type. No `extern __shared__` array has a
  # constructor that some other file would run. A vector that is set member by member is copied whole, unset members
  # too: what CUDA does, and what g++ takes for a mistake.
  target_compile_options(${target} PRIVATE -Wno-unknown-pragmas -Wno-maybe-uninitialized -Wno-class-memaccess -UNDEBUG
                         -fno-extern-tls-init ${limits})
  set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE ${PROJECT_SOURCE_DIR}/tools/compile_simulated)
endfunction()

# rooftile_rung_name(VARIABLE FILE): warp_shuffle for .../rungs/r080_warp_shuffle.cu; any other file's own name.
function(rooftile_rung_name variable source)
  cmake_path(GET source FILENAME name)
  string(REGEX REPLACE "^([rc][0-9]+_)?([a-z0-9_]+)\\..*$" "\\2" name ${name})
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# rooftile_generate_sim_sources(VARIABLE TARGET_NAME FILES.cu...): a file per kernel source that includes it.
function(rooftile_generate_sim_sources variable target_name)
  set(generated)
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE include_path)
    # build/sim/reduce/r010_naive.sim.cpp (build/checked/reduce/r010_naive.checked.cpp) for rooftile/ops/reduce/rungs/r010_naive.cu
    string(REGEX REPLACE "^rooftile/(ops|lessons)/([^/]+)/rungs/" "\\2/" short_path ${include_path})
    string(REGEX REPLACE "\\.cu$" ".${target_name}.cpp" short_path ${short_path})
    set(file ${PROJECT_BINARY_DIR}/${target_name}/${short_path})
    rooftile_rung_name(name ${source})
    file(CONFIGURE OUTPUT ${file} CONTENT "#define ROOFTILE_RUNG ${name}\n#include \"${include_path}\"\n")
    list(APPEND generated ${file})
  endforeach()
  set(${variable} ${generated} PARENT_SCOPE)
endfunction()

# rooftile_link_objects(TARGET OBJECT_LIBRARIES...): puts their objects into the target; absent ones are passed over.
function(rooftile_link_objects target)
  foreach(objects IN LISTS ARGN)
    if(TARGET ${objects})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
  endforeach()
endfunction()
