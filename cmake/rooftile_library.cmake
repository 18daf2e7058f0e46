# The library: core, operators, CPU rungs and, with CUDA, the kernels.
file(GLOB core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/core/*.cpp)
if(ROOFTILE_WITH_CUDA)
  list(FILTER core_sources EXCLUDE REGEX "_absent\\.cpp$")
else()
  list(FILTER core_sources EXCLUDE REGEX "/cuda_(backend|error)\\.cpp$")
endif()

rooftile_add_library(rooftile ${core_sources} ${rooftile_op_sources}
                     ${rooftile_generated}/register_all_operators.cpp)
add_library(rooftile::rooftile ALIAS rooftile)
# For who uses the library. Not for our own targets: CMake 3.25 asks CUDA sources for the same standard, and does not
# know how to tell nvcc; rooftile_configure_target does.
target_compile_features(rooftile INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ROOFTILE_OWN>>>:cxx_std_20>)
target_include_directories(rooftile PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_link_libraries(rooftile PUBLIC Threads::Threads PRIVATE TBB::tbb)
# CPU rungs are bound by memory only if the loops are vectorised.
set(cpu_rungs ${rooftile_op_sources})
list(FILTER cpu_rungs INCLUDE REGEX "_cpu\\.cpp$")
if(NOT ROOFTILE_SANITIZE)
  set_source_files_properties(${cpu_rungs} PROPERTIES COMPILE_OPTIONS -O3)
endif()

if(ROOFTILE_WITH_CUDA)
  target_compile_definitions(rooftile PUBLIC ROOFTILE_WITH_CUDA)
  target_link_libraries(rooftile PUBLIC CUDA::cudart_static)
  rooftile_archs(archs_portable 0)
  rooftile_archs(archs_sm80 80)
  rooftile_add_cuda_objects(rooftile_cuda_portable "${archs_portable}" ${rooftile_rungs_portable})
  rooftile_add_cuda_objects(rooftile_cuda_sm80 "${archs_sm80}" ${rooftile_rungs_sm80})
  rooftile_add_cuda_objects(rooftile_cuda_sm90a 90a-real ${rooftile_rungs_sm90a})
  rooftile_link_objects(rooftile rooftile_cuda_portable rooftile_cuda_sm80 rooftile_cuda_sm90a)
endif()
