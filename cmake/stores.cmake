# What lasts. Digests come from OpenSSL's libcrypto, raw requests are packed by libzstd; SQLite is compiled in, from the source that scripts/sqlite obtains.
# A build without it is one that loses conversations: it has to be asked for, with -DUNDERTEXT_SQLITE=OFF. open_store("sqlite:…") then answers `unsupported`.

find_package(OpenSSL REQUIRED COMPONENTS Crypto)
# No package of CMake's own finds zstd, and Debian's has none for it.
find_path(UNDERTEXT_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(UNDERTEXT_ZSTD zstd REQUIRED)
mark_as_advanced(UNDERTEXT_ZSTD_INCLUDE UNDERTEXT_ZSTD)
set(pkgconfig_stores "-lcrypto -lzstd")
foreach(target undertext_objects undertext undertext_static)
  target_link_libraries(${target} PRIVATE OpenSSL::Crypto)
endforeach()
foreach(target undertext undertext_static)
  # By its name: an installed package says no path of the machine that it was built on.
  target_link_libraries(${target} PRIVATE zstd)
endforeach()
target_include_directories(undertext_objects SYSTEM PRIVATE ${UNDERTEXT_ZSTD_INCLUDE})

set(UNDERTEXT_SQLITE ${PROJECT_SOURCE_DIR}/build/sqlite CACHE STRING "Where scripts/sqlite has put the source of SQLite; OFF: none")
set(sqlite_source "")
if(UNDERTEXT_SQLITE STREQUAL "OFF")
  undertext_without(sqlite "it was refused with UNDERTEXT_SQLITE=OFF: open_store(\"sqlite:…\") will answer `unsupported`")
elseif(EXISTS ${UNDERTEXT_SQLITE}/sqlite3.c)
  set(sqlite_source ${UNDERTEXT_SQLITE}/sqlite3.c)
else()
  message(FATAL_ERROR "The source of SQLite is not in ${UNDERTEXT_SQLITE}, and without it no conversation is kept in a file. Either\n"
    "  get it:       ${PROJECT_SOURCE_DIR}/scripts/sqlite ${UNDERTEXT_SQLITE}\n"
    "  or name it:   -DUNDERTEXT_SQLITE=FOLDER, with sqlite3.c and sqlite3.h of 3.51.3 or later\n"
    "  or refuse it: -DUNDERTEXT_SQLITE=OFF\n")
endif()
set(UNDERTEXT_HAVE_SQLITE 0)
if(sqlite_source)
  set(UNDERTEXT_HAVE_SQLITE 1)
  if(NOT CMAKE_C_COMPILER AND CMAKE_CXX_COMPILER MATCHES "clang\\+\\+")
    # The same compiler for both languages: sanitizers of two do not mix.
    string(REPLACE "clang++" "clang" CMAKE_C_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  enable_language(C)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  add_library(undertext_sqlite OBJECT ${sqlite_source})
  # Hidden, so that another SQLite in the same process is another one.
  set_target_properties(undertext_sqlite PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_compile_definitions(undertext_sqlite PRIVATE SQLITE_THREADSAFE=1 SQLITE_DQS=0 SQLITE_DEFAULT_MEMSTATUS=0 SQLITE_OMIT_LOAD_EXTENSION
    SQLITE_OMIT_DEPRECATED SQLITE_OMIT_SHARED_CACHE SQLITE_SECURE_DELETE SQLITE_DEFAULT_SYNCHRONOUS=2 SQLITE_DEFAULT_WAL_SYNCHRONOUS=2
    SQLITE_TRUSTED_SCHEMA=0 SQLITE_ENABLE_DBPAGE_VTAB SQLITE_DEFAULT_FILE_PERMISSIONS=0600 SQLITE_MAX_MMAP_SIZE=0 SQLITE_LIKE_DOESNT_MATCH_BLOBS HAVE_FDATASYNC=1 HAVE_USLEEP=1 HAVE_PREAD=1 HAVE_PWRITE=1)
  # Not our code: optimised whatever the build, none of our warnings, nothing for a debugger. Addresses and threads are watched in it, for what we hand
  # to it; what it does with its own integers is its own matter.
  target_compile_options(undertext_sqlite PRIVATE -w -g0 $<$<CONFIG:Debug>:-O1>)
  if(UNDERTEXT_SANITIZE)
    target_compile_options(undertext_sqlite PRIVATE -O1 -fno-sanitize=undefined)
  endif()
  # Nobody else sees its header.
  file(GLOB sqlite_room CONFIGURE_DEPENDS src/sqlite/*.cpp)
  set_source_files_properties(${sqlite_room} PROPERTIES INCLUDE_DIRECTORIES ${UNDERTEXT_SQLITE})
  foreach(library undertext undertext_static)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:undertext_sqlite>)
  endforeach()
else()
  get_target_property(sources undertext_objects SOURCES)
  list(FILTER sources EXCLUDE REGEX "/src/sqlite/")
  set_property(TARGET undertext_objects PROPERTY SOURCES ${sources})
endif()
set_source_files_properties(src/stores/open_store.cpp src/sessions/opencode.cpp PROPERTIES COMPILE_DEFINITIONS "UNDERTEXT_HAVE_SQLITE=${UNDERTEXT_HAVE_SQLITE}")
