# What `cmake --install` puts where: headers, both libraries, the command and its manual page, a CMake package and a pkg-config file. The installed tree may be
# moved: nothing in it holds an absolute path.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/undertext)

install(DIRECTORY include/undertext DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES bindings/c/undertext.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS undertext undertext_static EXPORT undertext)
if(TARGET undertext_cli)
  install(TARGETS undertext_cli)
  install(FILES docs/undertext.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

install(EXPORT undertext NAMESPACE undertext:: FILE undertext-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/undertext-config.cmake.in undertext-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(undertext-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/undertext-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/undertext-config-version.cmake
  DESTINATION ${package_dir})

cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY /prefix OUTPUT_VARIABLE pkgconfig_libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY /prefix OUTPUT_VARIABLE pkgconfig_includedir)
cmake_path(RELATIVE_PATH pkgconfig_includedir BASE_DIRECTORY ${pkgconfig_libdir}/pkgconfig)
configure_file(cmake/undertext.pc.in undertext.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/undertext.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
