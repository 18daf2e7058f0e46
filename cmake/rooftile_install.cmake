# install() and the package that find_package(rooftile) finds. Components: headers, library, sim, program. Only what was
# built is installed: --target rooftile is enough for the library.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rooftile)

# rooftile_install_targets(COMPONENT FILE TARGETS...): with the file by which find_package knows them.
function(rooftile_install_targets component file)
  install(TARGETS ${ARGN} EXPORT rooftile_${component} OPTIONAL
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  install(EXPORT rooftile_${component} NAMESPACE rooftile:: FILE ${file}
          DESTINATION ${package_dir} COMPONENT ${component})
endfunction()
rooftile_install_targets(headers rooftileHeaders.cmake rooftile_headers)
rooftile_install_targets(library rooftileTargets.cmake rooftile)
if(TARGET rooftile_sim_program)
  rooftile_install_targets(sim rooftileSim.cmake rooftile_sim rooftile_sim_kernels rooftile_sim_program)
endif()
if(ROOFTILE_BUILD_PROGRAM)
  install(TARGETS rooftile_cli ${rooftile_plugins} OPTIONAL
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program
          LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(DIRECTORY $<TARGET_FILE_DIR:rooftile_cli>/peers DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program
          OPTIONAL)
endif()

# When it is installed, not now: an include that is new needs no new configuration. What kernels include of the
# simulated SM goes with it.
function(rooftile_install_headers component)
  install(CODE "
    set(source_dir \"${PROJECT_SOURCE_DIR}\")
    set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
    set(roots \"${rooftile_public_headers};${rooftile_functor_headers}\")
    set(component ${component})
    include(\"${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake\")" COMPONENT ${component})
endfunction()
rooftile_install_headers(headers)
if(TARGET rooftile_sim_program)
  rooftile_install_headers(sim)
endif()
install(DIRECTORY ${rooftile_generated_include}/rooftile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rooftileConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/rooftileConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/rooftileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/rooftileConfig.cmake
              ${PROJECT_BINARY_DIR}/package/rooftileConfigVersion.cmake DESTINATION ${package_dir} COMPONENT headers)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT headers)

# pkg-config, relative to its own place. There is only an archive: who links it links what it needs.
cmake_path(SET pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
foreach(dir LIBDIR INCLUDEDIR)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_${dir} BASE_DIRECTORY ${pkgconfig_dir} OUTPUT_VARIABLE pkgconfig_${dir})
endforeach()
set(pkgconfig_cflags "-I\${includedir}")
set(pkgconfig_libs "-L\${libdir} -lrooftile -pthread")
if(ROOFTILE_WITH_CUDA)
  string(APPEND pkgconfig_cflags " -DROOFTILE_WITH_CUDA")
  string(APPEND pkgconfig_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/rooftile.pc @ONLY CONTENT
"libdir=\${pcfiledir}/@pkgconfig_LIBDIR@
includedir=\${pcfiledir}/@pkgconfig_INCLUDEDIR@

Name: @PROJECT_NAME@
Description: @PROJECT_DESCRIPTION@ (needs -std=c++20)
Version: @PROJECT_VERSION@
Requires: tbb
Cflags: @pkgconfig_cflags@
Libs: @pkgconfig_libs@
")
install(FILES ${PROJECT_BINARY_DIR}/package/rooftile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
