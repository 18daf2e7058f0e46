# The library: core, operators, CPU rungs and, with CUDA, the kernels.
file(GLOB core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/core/*.cpp)
if(ROOFTILE_WITH_CUDA)
  list(FILTER core_sources EXCLUDE REGEX "_absent\\.cpp$")
else()
  list(FILTER core_sources EXCLUDE REGEX "/cuda_(backend|error)\\.cpp$")
endif()

rooftile_add_library(rooftile ${core_sources} ${rooftile_generated}/register_all_operators.cpp)
add_library(rooftile::rooftile ALIAS rooftile)
# For who uses the library. Not for our own targets: CMake 3.25 asks CUDA sources for the same standard, and does not
# know how to tell nvcc; rooftile_configure_target does.
target_compile_features(rooftile INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ROOFTILE_OWN>>>:cxx_std_20>)
target_include_directories(rooftile PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_link_libraries(rooftile PUBLIC Threads::Threads PRIVATE TBB::tbb)
if(ROOFTILE_WITH_CUDA)
  target_compile_definitions(rooftile PUBLIC ROOFTILE_WITH_CUDA)
  target_link_libraries(rooftile PUBLIC CUDA::cudart_static)
endif()
rooftile_add_operator_objects(rooftile ${rooftile_library_operators})
