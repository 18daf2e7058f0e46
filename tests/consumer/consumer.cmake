# A project of somebody else's that uses the library: by find_package, add_subdirectory and pkg-config; and the
# installed headers, each by itself.
if(NOT ROOFTILE_SLOW_TESTS)
  return()
endif()
set(modes find_package add_subdirectory headers)
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  list(APPEND modes pkg_config)
endif()
foreach(mode IN LISTS modes)
  rooftile_add_script_test(consumer.${mode} LONG TIMEOUT 1200 COMMAND ${CMAKE_COMMAND}
    -DMODE=${mode} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DBUILD_DIR=${PROJECT_BINARY_DIR}
    -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -DLAUNCHER=${CCACHE_PROGRAM} -DPKG_CONFIG=${PKG_CONFIG}
    -P ${tests_dir}/consumer/run.cmake)
endforeach()
