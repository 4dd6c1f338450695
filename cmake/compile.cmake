# How every target here is compiled. Nothing of this reaches the users of the library.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(UNDERTEXT_CCACHE ccache)
  mark_as_advanced(UNDERTEXT_CCACHE)
  if(UNDERTEXT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${UNDERTEXT_CCACHE})
  endif()
endif()

if(UNDERTEXT_SANITIZE)
  add_compile_options(-fsanitize=${UNDERTEXT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${UNDERTEXT_SANITIZE})
endif()

# Something that is wanted and was not found. Reported by cmake, and by the script that asked for it, which reads without.txt of the build folder; the names of
# parts stand in scripts/lib.sh.
file(WRITE ${PROJECT_BINARY_DIR}/without.txt "")
function(undertext_without part consequence)
  message(STATUS "without ${part}: ${consequence}")
  file(APPEND ${PROJECT_BINARY_DIR}/without.txt "${part}: ${consequence}\n")
endfunction()

# simdjson gives tests and fuzz targets a second opinion on JSON.
macro(undertext_find_simdjson)
  find_package(simdjson QUIET)
  if(NOT simdjson_FOUND)
    undertext_without(simdjson "it is not installed: parsed JSON is not compared with its reading")
  endif()
endmacro()

# Our own rules for one target: C++20 without extensions, everything hidden that is not marked UNDERTEXT_API, all warnings. Files of src
# include each other as "room/file.hpp".
function(undertext_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion
    $<$<BOOL:${UNDERTEXT_WERROR}>:-Werror>)
  # The same warnings in every preset, so that none of them breaks unseen.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of variables and parameters. What stands outside of functions differs where files are joined.
    target_compile_options(${target} PRIVATE -Wshadow=local)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # GCC 12 sees overlapping copies in `"text" + std::string` where there are none (its bug 105651), and takes the value of
      # an empty std::optional for one that is read; which ones depends on the level of optimisation (its bug 80635).
      target_compile_options(${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized)
    endif()
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # libstdc++ 12 uses a deprecated function of its own in std::stable_sort, and clang blames the caller.
    target_compile_options(${target} PRIVATE -Wshadow -Wno-deprecated-declarations)
  endif()
endfunction()

# With UNDERTEXT_UNITY, the files of each of these patterns are compiled as one: they read nearly the same headers, and do nearly the same with them. For builds that are
# made as a whole; in everyday work one file changes at a time. (Names in unnamed namespaces must differ within a pattern.)
function(undertext_unity target)
  if(NOT UNDERTEXT_UNITY)
    return()
  endif()
  foreach(pattern src/history/* src/compression/* src/engine/* src/store/* src/sqlite/* src/postgres/* src/stores/* src/endpoint/* src/json/*
      src/dialect/[a-q]* src/dialect/read_* src/dialect/write_* src/dialect/rule* src/server/* src/cli/* src/http/* src/gateway/*
      src/message/* src/recall/* src/transfer/* src/mcp/* src/client/* src/base/* src/money/* src/system/* bindings/c/*)
    file(GLOB files ${PROJECT_SOURCE_DIR}/${pattern}.cpp)
    string(MAKE_C_IDENTIFIER ${pattern} group)
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes what is in an unnamed namespace of an included file for something that others see too.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A name of an unnamed namespace is then seen by the next file, which may have a parameter of that name.
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()
