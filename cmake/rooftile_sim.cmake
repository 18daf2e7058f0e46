# The simulated SM and, for programs of one's own, rooftile::sim: it and the operators' kernels for it.
# Static: one library less to carry to another machine.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.71 CONFIG REQUIRED COMPONENTS context)

file(GLOB sim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooftile/sim/*.cpp)
rooftile_add_library(rooftile_sim ${sim_sources})
target_link_libraries(rooftile_sim PUBLIC rooftile PRIVATE Boost::context Threads::Threads)
target_compile_options(rooftile_sim PRIVATE -UNDEBUG)

rooftile_add_operator_sim_objects(${rooftile_library_operators})

# Only the kernels are an archive that is linked whole: the rows refer to them weakly, which pulls nothing out of one.
set(sim_kernels)
foreach(op IN LISTS rooftile_library_operators)
  if(TARGET rooftile_op_${op}_sim)
    list(APPEND sim_kernels rooftile_op_${op}_sim)
  endif()
endforeach()
if(ROOFTILE_BUILD_SIM AND sim_kernels)
  rooftile_add_library(rooftile_sim_kernels)
  set_target_properties(rooftile_sim_kernels PROPERTIES LINKER_LANGUAGE CXX)
  rooftile_link_objects(rooftile_sim_kernels ${sim_kernels})
  target_link_libraries(rooftile_sim_kernels PUBLIC rooftile_sim)
  add_library(rooftile::sim_kernels ALIAS rooftile_sim_kernels)

  add_library(rooftile_sim_program INTERFACE)
  add_library(rooftile::sim ALIAS rooftile_sim_program)
  # By the name that the package has, too: an exported expression is not translated.
  target_link_libraries(rooftile_sim_program INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,rooftile::sim_kernels>)
  set_target_properties(rooftile_sim PROPERTIES EXPORT_NAME sim_runtime)
  set_target_properties(rooftile_sim_kernels PROPERTIES EXPORT_NAME sim_kernels)
  set_target_properties(rooftile_sim_program PROPERTIES EXPORT_NAME sim)
endif()
