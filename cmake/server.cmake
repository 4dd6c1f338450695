# `undertext serve` and `undertext gateway`: the rooms http, gateway and server, as a library of their own that only the command is linked with. Where Boost is not found (libboost1.81-dev),
# or there are no such rooms, everything else is built all the same, and `undertext serve` answers `unsupported`.

option(UNDERTEXT_SERVER "Build `undertext serve`, where Boost is found" ON)
set(UNDERTEXT_INSPECTOR ${PROJECT_SOURCE_DIR}/build/inspector CACHE PATH "Where scripts/inspector has put the built page")
set(UNDERTEXT_HAVE_SERVER 0)
include(cmake/compression_libraries.cmake)
find_path(UNDERTEXT_BOOST_INCLUDE boost/asio/ssl.hpp)
mark_as_advanced(UNDERTEXT_BOOST_INCLUDE)
if(UNDERTEXT_SERVER AND UNDERTEXT_BOOST_INCLUDE)
  set(UNDERTEXT_HAVE_SERVER 1)
  find_package(OpenSSL REQUIRED COMPONENTS SSL Crypto)
  file(GLOB server_sources CONFIGURE_DEPENDS src/http/*.cpp src/gateway/*.cpp src/server/*.cpp)
  list(FILTER server_sources EXCLUDE REGEX "_test\\.cpp$")
  # The page, byte for byte, as one source file; made anew when a file of it changes.
  file(GLOB_RECURSE page CONFIGURE_DEPENDS ${UNDERTEXT_INSPECTOR}/*)
  set(page_source ${CMAKE_CURRENT_BINARY_DIR}/generated/inspector_files.cpp)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_custom_command(OUTPUT ${page_source}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/embed_files.py ${UNDERTEXT_INSPECTOR} ${page_source}
    DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed_files.py VERBATIM)
  # Longer than a compiler has to take, which ours do.
  set_source_files_properties(${page_source} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  if(NOT page)
    undertext_without(inspector "the page is not in ${UNDERTEXT_INSPECTOR} (scripts/inspector builds it): the server serves a page that says so")
  endif()
  add_library(undertext_server STATIC ${server_sources} ${page_source})
  undertext_compile_options(undertext_server)
  undertext_unity(undertext_server)
  target_include_directories(undertext_server SYSTEM PRIVATE ${UNDERTEXT_BOOST_INCLUDE})
  target_compile_definitions(undertext_server PRIVATE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
  target_link_libraries(undertext_server PUBLIC undertext_static PRIVATE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
  undertext_compression_libraries(undertext_server)
  # Without libcurl, `undertext gateway` answers `unsupported`.
  target_compile_definitions(undertext_server PRIVATE UNDERTEXT_HAVE_CURL=${UNDERTEXT_HAVE_CURL})
  if(UNDERTEXT_HAVE_CURL)
    target_link_libraries(undertext_server PRIVATE CURL::libcurl)
  endif()
elseif(UNDERTEXT_SERVER)
  undertext_without(server "Boost is not installed (libboost1.81-dev): `undertext serve` will answer `unsupported`")
endif()
