# Each tests/fuzz/*.cpp is one libFuzzer target, undertext_fuzz_<name>. It starts from tests/fuzz/corpus/<name>, which it leaves alone: what
# it discovers goes to the build folder, in corpus/<name>, and an input that breaks something to crashes/<name>-….

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "UNDERTEXT_FUZZ needs clang, for libFuzzer (cmake --preset fuzz)")
endif()
find_package(simdjson QUIET)
target_compile_options(undertext_objects PRIVATE -fsanitize=fuzzer-no-link)

file(GLOB files CONFIGURE_DEPENDS tests/fuzz/*.cpp)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  set(target undertext_fuzz_${name})
  add_executable(${target} ${file})
  undertext_compile_options(${target})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${target} PRIVATE undertext_static)
  if(TARGET simdjson::simdjson)
    target_compile_definitions(${target} PRIVATE UNDERTEXT_HAVE_SIMDJSON)
    target_link_libraries(${target} PRIVATE simdjson::simdjson)
  endif()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/${name} ${PROJECT_BINARY_DIR}/crashes)
  set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(NOT EXISTS ${seeds})
    message(FATAL_ERROR "the fuzz target ${name} has no corpus: put at least one input into tests/fuzz/corpus/${name}")
  endif()
  add_test(NAME fuzz.${name}
    COMMAND ${target} -max_total_time=${UNDERTEXT_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=4096 -print_final_stats=1
            -artifact_prefix=${PROJECT_BINARY_DIR}/crashes/${name}-
            ${PROJECT_BINARY_DIR}/corpus/${name} ${seeds})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endforeach()
