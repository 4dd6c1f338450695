# What `cmake --install` puts where. The component `command` is the command with its manual page and completions, `development` the headers, both libraries, a CMake package and a pkg-config
# file. The installed tree may be moved: nothing in it holds an absolute path.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/undertext)

install(DIRECTORY include/undertext DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(FILES bindings/c/undertext.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS undertext undertext_static EXPORT undertext COMPONENT development)
if(TARGET undertext_cli)
  install(TARGETS undertext_cli COMPONENT command)
  install(FILES docs/undertext.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  # As the command itself writes them; built for another processor, as one writes them that runs here.
  set(UNDERTEXT_COMPLETIONS_OF "$<TARGET_FILE:undertext_cli>" CACHE STRING "The command that writes completions for shells")
  mark_as_advanced(UNDERTEXT_COMPLETIONS_OF)
  foreach(completion bash:bash-completion/completions/undertext zsh:zsh/vendor-completions/_undertext fish:fish/vendor_completions.d/undertext.fish)
    string(REGEX MATCH "^[a-z]+" shell ${completion})
    string(REPLACE "${shell}:" "" place ${completion})
    set(written ${PROJECT_BINARY_DIR}/completions/${place})
    cmake_path(GET written PARENT_PATH folder)
    install(CODE "file(MAKE_DIRECTORY \"${folder}\")
      execute_process(COMMAND \"${UNDERTEXT_COMPLETIONS_OF}\" completion ${shell} OUTPUT_FILE \"${written}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
    cmake_path(GET place PARENT_PATH folder)
    install(FILES ${written} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT command)
  endforeach()
endif()

install(EXPORT undertext NAMESPACE undertext:: FILE undertext-targets.cmake DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/undertext-config.cmake.in undertext-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(undertext-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/undertext-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/undertext-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY /prefix OUTPUT_VARIABLE pkgconfig_libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY /prefix OUTPUT_VARIABLE pkgconfig_includedir)
cmake_path(RELATIVE_PATH pkgconfig_includedir BASE_DIRECTORY ${pkgconfig_libdir}/pkgconfig)
configure_file(cmake/undertext.pc.in undertext.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/undertext.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
include(cmake/debian.cmake)
