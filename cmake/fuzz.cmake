# Each tests/fuzz/*.cpp is one libFuzzer target, undertext_fuzz_<name>. ctest runs it from tests/fuzz/corpus/<name> with one seed and a fixed number of
# inputs, and lets it keep nothing, so that the same build gives the same run on a slow machine as on a fast one: what has passed keeps passing.
# What nobody has seen yet is for scripts/fuzz to find. An input that breaks something goes to crashes/<name>-… of the build folder.

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "UNDERTEXT_FUZZ needs clang, for libFuzzer (cmake --preset fuzz)")
endif()
undertext_find_simdjson()
target_compile_options(undertext_objects PRIVATE -fsanitize=fuzzer-no-link)
if(TARGET undertext_server)
  target_compile_options(undertext_server PRIVATE -fsanitize=fuzzer-no-link)
endif()

# What libFuzzer tries next depends on addresses too. (Some containers do not let anybody fix them.)
set(same_addresses setarch -R)
execute_process(COMMAND ${same_addresses} true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(STATUS "addresses cannot be fixed here: fuzz runs of ctest will differ a little from each other")
  set(same_addresses "")
endif()

# How many inputs, where 10000 are far from taking a quarter of a minute on one core.
set(runs_message_fuzz 300000)
set(runs_operations_fuzz 4000)
set(runs_gateway 5000)
set(runs_tokenizer 700)

# Their inputs are JSON, and stay JSON when they are mutated. They are put together from pieces of the corpus: what is new in a format is fuzzed once one
# input has it (those of dialect are called forms_of_…).
set(json_targets dialect exec_fuzz mcp)

file(GLOB files CONFIGURE_DEPENDS tests/fuzz/*.cpp)
if(NOT TARGET undertext_server) # whose library has the gateway
  list(FILTER files EXCLUDE REGEX "/gateway\\.cpp$")
endif()
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  set(target undertext_fuzz_${name})
  add_executable(${target} ${file})
  if(name IN_LIST json_targets)
    target_sources(${target} PRIVATE tests/fuzz/mutator/json_mutator.cpp)
  endif()
  undertext_compile_options(${target})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${target} PRIVATE $<$<STREQUAL:${name},gateway>:undertext_server> undertext_static)
  if(TARGET simdjson::simdjson)
    target_compile_definitions(${target} PRIVATE UNDERTEXT_HAVE_SIMDJSON)
    target_link_libraries(${target} PRIVATE simdjson::simdjson)
  endif()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/crashes)
  file(GLOB seeds CONFIGURE_DEPENDS tests/fuzz/corpus/${name}/*)
  if(NOT seeds)
    message(FATAL_ERROR "the fuzz target ${name} has no corpus: put at least one input into tests/fuzz/corpus/${name}")
  endif()
  list(JOIN seeds "," seeds)
  file(CONFIGURE OUTPUT ${target}_seeds.txt CONTENT "${seeds}" @ONLY)
  set(runs 10000)
  if(DEFINED runs_${name})
    set(runs ${runs_${name}})
  endif()
  add_test(NAME fuzz.${name}
    COMMAND ${same_addresses} $<TARGET_FILE:${target}> -seed=1 -runs=${runs} -max_total_time=120 -timeout=20 -rss_limit_mb=4096
            -print_final_stats=1 -artifact_prefix=${PROJECT_BINARY_DIR}/crashes/${name}-
            -seed_inputs=@${PROJECT_BINARY_DIR}/${target}_seeds.txt)
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endforeach()
