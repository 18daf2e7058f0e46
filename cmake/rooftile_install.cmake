# install() and the package that find_package(rooftile) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rooftile)

install(TARGETS rooftile EXPORT rooftile_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT rooftile_targets NAMESPACE rooftile:: DESTINATION ${package_dir} FILE rooftileTargets.cmake)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/rooftile/core ${PROJECT_SOURCE_DIR}/rooftile/device
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rooftile FILES_MATCHING PATTERN "*.h")
# An operator's public header, and the headers that a kernel of one's own may include.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/rooftile/ops DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rooftile
        FILES_MATCHING PATTERN "*.h" PATTERN "rungs" EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rooftileConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/rooftileConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/rooftileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/rooftileConfig.cmake
              ${PROJECT_BINARY_DIR}/package/rooftileConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
