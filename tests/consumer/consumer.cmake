# A project of somebody else's that uses the library, by find_package and by add_subdirectory.
if(NOT ROOFTILE_SLOW_TESTS)
  return()
endif()
foreach(mode find_package add_subdirectory)
  rooftile_add_script_test(consumer.${mode} LONG TIMEOUT 1200 COMMAND ${CMAKE_COMMAND}
    -DMODE=${mode} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DBUILD_DIR=${PROJECT_BINARY_DIR}
    -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -DLAUNCHER=${CCACHE_PROGRAM}
    -P ${tests_dir}/consumer/run.cmake)
endforeach()
