# zlib decodes compressed bodies; libzstd, which cmake/stores.cmake has found, does too. Where zlib is not found (zlib1g-dev), bodies in gzip are kept as they came.
find_package(ZLIB QUIET)
set(UNDERTEXT_HAVE_ZLIB 0)
if(ZLIB_FOUND)
  set(UNDERTEXT_HAVE_ZLIB 1)
else()
  undertext_without(zlib "zlib is not installed (zlib1g-dev): bodies in gzip are not decoded")
endif()

# Links both, and defines UNDERTEXT_HAVE_ZLIB.
function(undertext_compression_libraries target)
  target_compile_definitions(${target} PRIVATE UNDERTEXT_HAVE_ZLIB=${UNDERTEXT_HAVE_ZLIB})
  if(UNDERTEXT_HAVE_ZLIB)
    target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
  endif()
  target_include_directories(${target} SYSTEM PRIVATE ${UNDERTEXT_ZSTD_INCLUDE})
  target_link_libraries(${target} PRIVATE zstd)
endfunction()
