# Options, and the flags that every target of this project is compiled with.
#
# A project that includes this one keeps its own flags, and CUDA out of its build unless it has enabled the language.
set(rooftile_cuda_default AUTO)
get_property(rooftile_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CUDA IN_LIST rooftile_languages)
  set(rooftile_cuda_default OFF)
endif()
set(ROOFTILE_CUDA ${rooftile_cuda_default} CACHE STRING
    "Build the GPU targets: AUTO (when a CUDA toolkit is found), ON, OFF")
set_property(CACHE ROOFTILE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(ROOFTILE_CUDA_ARCHS "90a-real;80-virtual" CACHE STRING
    "Architectures of portable kernels, as CMAKE_CUDA_ARCHITECTURES writes them")
set(ROOFTILE_OPERATORS all CACHE STRING
    "Operators and lessons to build: all, or a list such as reduce;transpose. What they include comes along.")
set(ROOFTILE_DESCRIBED "" CACHE STRING
    "Operators that are described without their kernels where they are not built (all, or a list): for list and show")
set(ROOFTILE_CCCL_DIR "" CACHE PATH
  "A newer CCCL than the toolkit's, the folder that holds cub/: its CUB is then a peer, too")
option(ROOFTILE_BUILD_PROGRAM "Build the simulator, the lab and the program" ${PROJECT_IS_TOP_LEVEL})
option(ROOFTILE_BUILD_SIM "Build rooftile::sim: the simulated SM for programs of one's own" ${ROOFTILE_BUILD_PROGRAM})
option(ROOFTILE_INSTALL "Make rules that install what is built" ${PROJECT_IS_TOP_LEVEL})
option(ROOFTILE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ROOFTILE_SLOW_TESTS "Also the tests that build whole projects of their own" ON)
option(ROOFTILE_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(ROOFTILE_CHECKED "Also build the kernels with instrumented accesses, for `rooftile sim`" ON)
set(ROOFTILE_CHECKED_OPTIMISATION -O1 CACHE STRING "Optimisation of instrumented kernels: -O1 or -O2")
option(ROOFTILE_LINE_INFO "Source lines in the kernels, for ncu and compute-sanitizer; a tenth more to compile" OFF)
option(ROOFTILE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Rooftile needs g++ 12 or newer, found ${CMAKE_CXX_COMPILER_VERSION}: "
                      "install it and pass -DCMAKE_CXX_COMPILER=g++-12")
endif()
if(ROOFTILE_BUILD_TESTS AND NOT ROOFTILE_BUILD_PROGRAM)
  message(FATAL_ERROR "ROOFTILE_BUILD_TESTS needs ROOFTILE_BUILD_PROGRAM=ON: the tests run through the lab")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # Two checkouts share their results: paths below the base directory are hashed as relative ones.
    # Precompiled headers hide macros and times from it, which the sloppiness allows.
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

  # 2 is nvcc's and the project's level; debug information doubles the build time on two cores and is left to asan.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -DNDEBUG")
  # Shared libraries that a machine lacks may lie beside the program.
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")
  # One run path for both: CMake pads a build path with empty entries, which mean the current directory.
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
endif()
# For shared libraries that take the archive in; for our targets alone.
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

# CMake 3.25 knows no C++20 for CUDA: it emits no flag, and nvcc compiles C++17. CXX_STANDARD counts for CUDA sources,
# too, so both languages get the flag as an option (and core/status.h asserts it).
unset(CMAKE_CUDA_STANDARD)
unset(CMAKE_CXX_STANDARD)

set(rooftile_host_warnings -Wall -Wextra -Wshadow)
set(rooftile_cxx_options -std=c++20 ${rooftile_host_warnings} -Wpedantic)
# nvcc's own generated code is not pedantic.
string(JOIN "," rooftile_host_warnings_of_nvcc ${rooftile_host_warnings})
# 554: nvcc reports the conversion of a view to a const one where the view is const already. 2810: it takes an
# assignment from a nodiscard function for a discarded result; g++ compiles the same sources and finds the real ones.
set(rooftile_kernel_options -std=c++20 --expt-relaxed-constexpr -diag-suppress=554,2810)
set(rooftile_cuda_options ${rooftile_kernel_options} "-Xcompiler=${rooftile_host_warnings_of_nvcc}")
# No kernel option: the instructions are the same with it.
if(ROOFTILE_LINE_INFO)
  list(APPEND rooftile_cuda_options -lineinfo)
endif()
if(ROOFTILE_WERROR)
  list(APPEND rooftile_cxx_options -Werror)
  list(APPEND rooftile_cuda_options "SHELL:-Werror all-warnings" -Xcompiler=-Werror)
endif()
set(rooftile_link_options)
if(ROOFTILE_SANITIZE)
  # g++ knows less of what is initialised once the sanitizers' own code stands between.
  list(APPEND rooftile_cxx_options -Wno-maybe-uninitialized)
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  list(APPEND rooftile_cxx_options ${sanitize})
  list(APPEND rooftile_link_options ${sanitize})
endif()
