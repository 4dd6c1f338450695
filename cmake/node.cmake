# The addon of the npm package (bindings/node): undertext.node, where scripts/node has put the headers of Node-API. It holds the whole library, hidden: another
# SQLite or OpenSSL in the same process (Node exports its own) is another one.

file(GLOB node_headers CONFIGURE_DEPENDS bindings/node/node_modules/node-api-headers/include/node_api.h)
if(NOT PROJECT_IS_TOP_LEVEL OR UNDERTEXT_SANITIZE)
  return()
endif()
if(NOT node_headers)
  undertext_without(node "the headers of Node-API are missing (scripts/node gets them): the npm package has no addon, and is not tested")
  return()
endif()
cmake_path(GET node_headers PARENT_PATH node_headers)
file(GLOB node_sources CONFIGURE_DEPENDS bindings/node/native/*.cpp)
add_library(undertext_node MODULE ${node_sources})
undertext_compile_options(undertext_node)
set_target_properties(undertext_node PROPERTIES PREFIX "" OUTPUT_NAME undertext SUFFIX .node)
target_compile_definitions(undertext_node PRIVATE NAPI_VERSION=8)
target_include_directories(undertext_node SYSTEM PRIVATE ${node_headers})
# Hidden only where it is not a library of its own.
find_library(UNDERTEXT_CRYPTO_ARCHIVE NAMES libcrypto.a)
find_library(UNDERTEXT_ZSTD_ARCHIVE NAMES libzstd.a)
mark_as_advanced(UNDERTEXT_CRYPTO_ARCHIVE UNDERTEXT_ZSTD_ARCHIVE)
target_link_libraries(undertext_node PRIVATE undertext_static $<$<BOOL:${UNDERTEXT_CRYPTO_ARCHIVE}>:${UNDERTEXT_CRYPTO_ARCHIVE}>
  $<$<BOOL:${UNDERTEXT_ZSTD_ARCHIVE}>:${UNDERTEXT_ZSTD_ARCHIVE}> Threads::Threads)
if(APPLE)
  # What Node has is found when the addon is loaded. An image with thread-local variables is never unloaded there.
  target_link_options(undertext_node PRIVATE -Wl,-undefined,dynamic_lookup -Wl,-exported_symbol,_napi_register_module_v1
    -Wl,-exported_symbol,_node_api_module_get_api_version_v1)
else()
  set(node_symbols ${PROJECT_SOURCE_DIR}/bindings/node/native/symbols.map)
  # nodelete: a worker that ends unloads the addon, while the last thread of its pool may still be leaving.
  target_link_options(undertext_node PRIVATE -Wl,--version-script=${node_symbols} -Wl,-Bsymbolic -Wl,-z,nodelete)
  set_property(TARGET undertext_node APPEND PROPERTY LINK_DEPENDS ${node_symbols})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # So that it runs where the C++ library is older.
  target_link_options(undertext_node PRIVATE -static-libstdc++ -static-libgcc)
endif()
