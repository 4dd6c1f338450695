# The tests, as ctest sees them. Labels: unit, scenario, model, concurrency, crash, fuzz, example, install, architecture, postgres, server, inspector, node, python.
#
#   src/<room>/*_test.cpp      one executable a room, undertext_<room>_test; label unit
#   …model_test.cpp            those of a room: one executable of their own, undertext_<room>_model_test; label model
#   …concurrency_test.cpp      likewise; label concurrency
#   tests/*_test.cpp           by the same endings, else an executable each; label unit
#   tests/store/, tests/crash/ the contract of every store, and what stores survive (cmake/store_tests.cmake)
#   tests/postgres/            on throw-away servers, where PostgreSQL is installed (cmake/postgres.cmake); label postgres
#   tests/server/              the command as a server, over sockets (cmake/server_tests.cmake); label server
#   tests/gateway/             the command as a gateway, likewise; label server
#   tests/mcp/                 `undertext mcp`, and /mcp of the server, with official clients; label server
#   tests/inspector/           the page in a real browser (cmake/inspector_tests.cmake); label inspector
#   bindings/node/tests/       the npm package (cmake/node_tests.cmake); label node
#   bindings/python/tests/     the package for Python (cmake/python_tests.cmake); label python
#   bindings/node/tests/adapters/   its adapters (cmake/node_adapter_tests.cmake); label node
#   tests/model/               History against a plain reference; label model
#   tests/fuzz/*.cpp           replayed over tests/fuzz/corpus/<name>, or fuzzed from there (cmake/fuzz.cmake); label fuzz
#   examples/*.cpp             built against the shared library and run; label example
#   examples/*.py, *.mts       with the official SDKs, against the model of tests/examples (cmake/example_tests.cmake); label example

include(GoogleTest)
find_package(GTest REQUIRED)
undertext_find_simdjson()
find_program(UNDERTEXT_PYTHON3 python3 REQUIRED)
find_program(UNDERTEXT_BASH bash REQUIRED)
mark_as_advanced(UNDERTEXT_PYTHON3 UNDERTEXT_BASH)

# What these rooms hold is read by many threads, so the thread sanitizer sees all of their tests.
set(concurrent_rooms sequence engine)
# Builds exactly what `ctest -L concurrency` runs.
add_custom_target(undertext_concurrency_tests)

# What most test files include takes a third of their time to compile. One target precompiles it for all that are compiled with the same flags.
if(UNDERTEXT_PCH)
  file(CONFIGURE OUTPUT generated/tests_pch.cpp CONTENT "")
  add_library(undertext_tests_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/generated/tests_pch.cpp)
  undertext_compile_options(undertext_tests_pch)
  target_compile_options(undertext_tests_pch PRIVATE ${UNDERTEXT_TEST_FLAGS})
  target_link_libraries(undertext_tests_pch PRIVATE undertext_static GTest::gtest_main Threads::Threads)
  target_precompile_headers(undertext_tests_pch PRIVATE <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <memory> <optional>
    <random> <set> <string> <thread> <variant> <vector> <gtest/gtest.h> <undertext/undertext.hpp>)
endif()

# With UNDERTEXT_UNITY, the test files of an executable are compiled a few at a time (cmake/join_tests.py), so that two processors are busy to the end.
function(undertext_joined_tests target list_name)
  set(joined "")
  set(group "")
  set(group_bytes 0)
  set(files ${${list_name}})
  set(others ${${list_name}}) # such as objects of the library
  list(FILTER files INCLUDE REGEX "_test\\.cpp$")
  list(FILTER others EXCLUDE REGEX "_test\\.cpp$")
  foreach(file IN LISTS files ITEMS end)
    if(NOT file STREQUAL "end")
      file(STRINGS ${file} replaces_new REGEX "^void\\* operator new")
      if(replaces_new) # for the whole program, with names of its own file
        list(APPEND others ${file})
        continue()
      endif()
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      file(SIZE ${file} bytes)
      list(APPEND group ${file})
      math(EXPR group_bytes "${group_bytes} + ${bytes}")
    endif()
    if(group AND (file STREQUAL "end" OR group_bytes GREATER 150000))
      list(LENGTH joined number)
      set(output ${CMAKE_CURRENT_BINARY_DIR}/joined/${target}_${number}.cpp)
      add_custom_command(OUTPUT ${output} COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/cmake/join_tests.py ${output} ${group}
        DEPENDS ${group} ${PROJECT_SOURCE_DIR}/cmake/join_tests.py VERBATIM)
      list(APPEND joined ${output})
      set(group "")
      set(group_bytes 0)
    endif()
  endforeach()
  set(${list_name} ${joined} ${others} PARENT_SCOPE)
endfunction()

# An emulator takes longer.
set(UNDERTEXT_TEST_TIMEOUT 300 CACHE STRING "seconds that one unit test may take")

function(undertext_test target labels)
  set(files ${ARGN})
  set(folders ${ARGN})
  list(FILTER folders INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES folders)
  if(UNDERTEXT_UNITY)
    undertext_joined_tests(${target} files)
  endif()
  add_executable(${target} ${files})
  # Files of tests/ include their neighbours by name.
  target_include_directories(${target} PRIVATE ${folders})
  undertext_compile_options(${target})
  target_link_libraries(${target} PRIVATE undertext_static GTest::gtest_main Threads::Threads)
  set(timeout_s ${UNDERTEXT_TEST_TIMEOUT})
  if(labels MATCHES "model")
    set(timeout_s 900) # and at full speed: these take as many steps as they are given
  else()
    target_compile_options(${target} PRIVATE ${UNDERTEXT_TEST_FLAGS})
    # Those get definitions of their own, which the precompiled file does not know.
    if(UNDERTEXT_PCH AND NOT target MATCHES "^undertext_(base|http|gateway)_test$")
      target_precompile_headers(${target} REUSE_FROM undertext_tests_pch)
    endif()
  endif()
  if(labels MATCHES "concurrency")
    add_dependencies(undertext_concurrency_tests ${target})
  endif()
  # Such as engine.Conversation.…: the same file may be part of two executables.
  string(REGEX REPLACE "^undertext_|_test$" "" prefix ${target})
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120)
  # ctest reads this file after it has found the tests: gtest_discover_tests itself cannot pass on a list of labels.
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(CONFIGURE OUTPUT ${properties_file} @ONLY CONTENT [[
if(@target@_TESTS)
  set_tests_properties(${@target@_TESTS} PROPERTIES LABELS "@labels@" TIMEOUT @timeout_s@)
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()

# Test files with a purpose of their own leave the list, and become one executable for each purpose.
function(undertext_tests_of_their_own prefix list_name)
  foreach(label model concurrency)
    set(files ${${list_name}})
    list(FILTER files INCLUDE REGEX "${label}_test\\.cpp$")
    if(files)
      undertext_test(${prefix}_${label}_test ${label} ${files})
      list(REMOVE_ITEM ${list_name} ${files})
    endif()
  endforeach()
  set(${list_name} "${${list_name}}" PARENT_SCOPE)
endfunction()

file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src src/*)
if(NOT UNDERTEXT_HAVE_SERVER)
  list(REMOVE_ITEM rooms http gateway server)
endif()
foreach(room IN LISTS rooms)
  file(GLOB tests CONFIGURE_DEPENDS src/${room}/*_test.cpp)
  undertext_tests_of_their_own(undertext_${room} tests)
  if(room MATCHES "^(http|gateway|server)$" AND TARGET undertext_${room}_concurrency_test)
    target_link_libraries(undertext_${room}_concurrency_test PRIVATE undertext_server)
  endif()
  if(NOT tests OR (room STREQUAL "sqlite" AND NOT UNDERTEXT_HAVE_SQLITE))
    continue()
  endif()
  set(labels unit)
  if(room IN_LIST concurrent_rooms)
    list(APPEND labels concurrency)
  endif()
  if(room STREQUAL "cli")
    undertext_test(undertext_cli_test "${labels}" ${tests})
    target_link_libraries(undertext_cli_test PRIVATE undertext_cli_room)
  else()
    undertext_test(undertext_${room}_test "${labels}" ${tests})
    if(room MATCHES "^(http|gateway|server)$")
      target_link_libraries(undertext_${room}_test PRIVATE undertext_server)
    endif()
    if(room STREQUAL "gateway")
      undertext_compression_libraries(undertext_gateway_test)
    endif()
    if(room STREQUAL "http")  # asks Boost.Beast for a second opinion
      target_include_directories(undertext_http_test SYSTEM PRIVATE ${UNDERTEXT_BOOST_INCLUDE})
      target_compile_definitions(undertext_http_test PRIVATE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
    endif()
  endif()
endforeach()
if(TARGET undertext_base_test AND TARGET simdjson::simdjson)
  target_compile_definitions(undertext_base_test PRIVATE UNDERTEXT_HAVE_SIMDJSON)
  target_link_libraries(undertext_base_test PRIVATE simdjson::simdjson)
endif()

file(GLOB tests CONFIGURE_DEPENDS tests/*_test.cpp)
undertext_tests_of_their_own(undertext tests)
foreach(file IN LISTS tests)
  cmake_path(GET file STEM name)
  undertext_test(undertext_${name} unit ${file})
endforeach()

include(cmake/store_tests.cmake)
include(cmake/c_tests.cmake)
include(cmake/node_tests.cmake)
if(TARGET undertext_python)
  include(cmake/python_tests.cmake)
endif()
include(cmake/node_adapter_tests.cmake)

# The model test, on the engine built with the tiniest tree nodes, and on the engine as shipped. Sanitizers see the latter: the former compiles the engine's largest
# room once more, and what it finds, a wrong place in a deep tree, it finds without them.
set(model_sources tests/model/model_test.cpp tests/model/plain_model.cpp)
if(NOT UNDERTEXT_SANITIZE)
  set(tiny_sources ${library_sources})
  list(FILTER tiny_sources INCLUDE REGEX "/src/(sequence|history)/")
  # The rooms below know no tree, and are taken as they are.
  set(tiny_objects "$<FILTER:$<TARGET_OBJECTS:undertext_objects>,INCLUDE,/src/(base|message)/|/unity_src_(base|message)_>")
  undertext_test(undertext_tiny_model_test model ${model_sources} ${tiny_sources} ${tiny_objects})
  undertext_unity(undertext_tiny_model_test)
  target_compile_definitions(undertext_tiny_model_test PRIVATE UNDERTEXT_LEAF_MAX=2 UNDERTEXT_INNER_MAX=4)
  set_target_properties(undertext_tiny_model_test PROPERTIES LINK_LIBRARIES "GTest::gtest_main;Threads::Threads")
endif()
undertext_test(undertext_shipped_model_test model ${model_sources})

# Where there are fuzz targets, they play the corpus too.
file(GLOB files CONFIGURE_DEPENDS tests/fuzz/*.cpp)
if(NOT TARGET undertext_server) # whose library has the gateway
  list(FILTER files EXCLUDE REGEX "/gateway\\.cpp$")
endif()
if(UNDERTEXT_FUZZ)
  set(files "")
endif()
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_executable(undertext_replay_${name} ${file} tests/fuzz/replay/main.cpp)
  undertext_compile_options(undertext_replay_${name})
  target_link_libraries(undertext_replay_${name} PRIVATE $<$<STREQUAL:${name},gateway>:undertext_server> undertext_static)
  if(TARGET simdjson::simdjson)
    target_compile_definitions(undertext_replay_${name} PRIVATE UNDERTEXT_HAVE_SIMDJSON)
    target_link_libraries(undertext_replay_${name} PRIVATE simdjson::simdjson)
  endif()
  add_test(NAME replay.${name} COMMAND undertext_replay_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(replay.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
endforeach()

file(GLOB files CONFIGURE_DEPENDS examples/*.cpp)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_executable(undertext_example_${name} ${file})
  # A user's flags, not ours: an example sees the public headers only.
  target_link_libraries(undertext_example_${name} PRIVATE undertext Threads::Threads)
  add_test(NAME example.${name} COMMAND undertext_example_${name})
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
add_executable(undertext_no_exceptions tests/headers/no_exceptions.cpp)
target_link_libraries(undertext_no_exceptions PRIVATE undertext)
target_compile_options(undertext_no_exceptions PRIVATE -fno-exceptions)
add_test(NAME headers.no_exceptions COMMAND undertext_no_exceptions)
set_tests_properties(headers.no_exceptions PROPERTIES LABELS example TIMEOUT 120)

add_test(NAME example.quoted_first_conversation COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/quoted_lines.py ${PROJECT_SOURCE_DIR}/docs/cpp.md
  ${PROJECT_SOURCE_DIR}/examples/first_conversation.cpp $<TARGET_FILE:undertext_example_first_conversation>)
add_test(NAME prose COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/prose_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME readme COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/readme_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(example.quoted_first_conversation readme prose PROPERTIES LABELS example TIMEOUT 120)

# Plays sessions under policies of the gateway; tests/money/simulate.py bills them.
add_executable(undertext_play tests/money/play.cpp)
undertext_compile_options(undertext_play)
target_link_libraries(undertext_play PRIVATE undertext_static Threads::Threads)
# A short form of scripts/bench-money; skipped where scripts/peers and scripts/vocabularies could not get tiktoken and its ranks.
add_test(NAME money.simulation COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/money/simulate.sh $<TARGET_FILE:undertext_play>
  --sessions 8 --turns 100 400)
set_tests_properties(money.simulation PROPERTIES LABELS model TIMEOUT 600 SKIP_RETURN_CODE 77)

# The tokens of o200k_base and cl100k_base beside tiktoken's. `tests/tokens/compare.sh PROGRAM` without --quick compares everything.
add_executable(undertext_encode_texts tests/tokens/encode_texts.cpp)
undertext_compile_options(undertext_encode_texts)
target_link_libraries(undertext_encode_texts PRIVATE undertext_static Threads::Threads)
add_test(NAME tokens.compare_with_tiktoken
  COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/tokens/compare.sh $<TARGET_FILE:undertext_encode_texts> --quick)
set_tests_properties(tokens.compare_with_tiktoken PROPERTIES LABELS unit TIMEOUT 600 SKIP_RETURN_CODE 77)

undertext_postgres_tests()

add_test(NAME architecture COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/architecture_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(architecture PROPERTIES LABELS architecture)
add_test(NAME models COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/models_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(models PROPERTIES LABELS architecture)
add_test(NAME one_reader COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/one_reader_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(one_reader PROPERTIES LABELS architecture)
add_test(NAME every_function COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/every_function_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(every_function PROPERTIES LABELS architecture)
add_test(NAME parts COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/parts_test.sh)
set_tests_properties(parts PROPERTIES LABELS architecture TIMEOUT 300)

# A script of tests/ that is given the built command and, after it, the further arguments.
function(undertext_script_test name label script)
  add_test(NAME ${name} COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/${script} $<TARGET_FILE:undertext_cli> ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 900)
endfunction()

if(TARGET undertext_cli)
  file(GLOB files CONFIGURE_DEPENDS tests/scenarios/*.json)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    undertext_script_test(scenario.${name} scenario play_scenarios.py ${file})
  endforeach()
  # The protocol against its schema, with the validator that scripts/peers gets.
  add_test(NAME schema COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/schema_test.sh $<TARGET_FILE:undertext_cli> ${files})
  set_tests_properties(schema PROPERTIES LABELS scenario TIMEOUT 900 SKIP_RETURN_CODE 77)
  undertext_script_test(scenario.random_blocks scenario random_blocks.py)
  undertext_script_test(bad_input scenario bad_input.py)
  undertext_script_test(demo scenario demo_test.py)
  undertext_script_test(count scenario count_test.py)
  undertext_script_test(cli scenario cli_test.py)
  undertext_script_test(redaction model redaction_test.py)
  undertext_script_test(reconcile_race scenario reconcile_race_test.py)
  # Random clients that keep their own list, in four dialects. RUNS=2000 is the long form.
  undertext_script_test(reconcile_laws model clients/laws_test.py)
  set_tests_properties(cli PROPERTIES SKIP_RETURN_CODE 77)
  undertext_script_test(sessions example session_test.py ${PROJECT_SOURCE_DIR}/docs/operations.md ${PROJECT_SOURCE_DIR}/docs/clients.md)
  undertext_script_test(open_sessions scenario sessions_test.py)
  undertext_script_test(open_sessions.server scenario open_sessions_test.py)
  undertext_script_test(exec_model model exec_model.py)
  undertext_script_test(prompt_cache_model model prompt_cache_model.py)
  # Random conversations, edited and rendered for every profile, against the providers' published rules; some also against the types of the official SDKs, where
  # scripts/peers could get them. CONVERSATIONS=20000 is the long form.
  undertext_script_test(requests model dialect/requests_test.py)
  undertext_script_test(requests.sdks model dialect/requests_test.py ${PROJECT_SOURCE_DIR}/build/peers/sdks)
  set_tests_properties(requests.sdks PROPERTIES SKIP_RETURN_CODE 77)
  # What is rendered, through the official clients of the providers; skipped where scripts/peers could not get them.
  undertext_script_test(clients scenario dialect/clients_test.py ${PROJECT_SOURCE_DIR}/build/peers/clients)
  set_tests_properties(clients PROPERTIES SKIP_RETURN_CODE 77)
  # Real coding agents, followed; skipped likewise.
  undertext_script_test(agents scenario agents/reconcile_test.py ${PROJECT_SOURCE_DIR}/build/peers/agents)
  # Their sessions, imported, and resumed by the other one.
  undertext_script_test(agents.sessions scenario agents/sessions_test.py ${PROJECT_SOURCE_DIR}/build/peers/agents)
  if(UNDERTEXT_HAVE_SERVER AND UNDERTEXT_HAVE_SQLITE) # `undertext open`, over a database
    undertext_script_test(agents.other_sessions scenario agents/other_sessions_test.py ${PROJECT_SOURCE_DIR}/build/peers/agents)
    set_tests_properties(agents.other_sessions PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  set_tests_properties(agents agents.sessions PROPERTIES SKIP_RETURN_CODE 77)
  add_test(NAME conformance
    COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/conformance.sh ${UNDERTEXT_PYTHON3} $<TARGET_FILE:undertext_cli>)
  set_tests_properties(conformance PROPERTIES LABELS scenario TIMEOUT 900 SKIP_RETURN_CODE 77)
  # The site of the manual, made and looked at; skipped where scripts/site could not get its generator.
  if(NOT UNDERTEXT_SANITIZE)
    add_test(NAME site COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/site/run.sh $<TARGET_FILE:undertext_cli>)
    set_tests_properties(site PROPERTIES LABELS scenario TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
  include(cmake/stored_tests.cmake)
  include(cmake/server_tests.cmake)
  include(cmake/inspector_tests.cmake)
  include(cmake/example_tests.cmake)
endif()

if(UNDERTEXT_INSTALL AND NOT UNDERTEXT_SANITIZE)
  add_test(NAME install COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR})
  # Slow, and defined last: COST lets it start among the first.
  set_tests_properties(install PROPERTIES LABELS install TIMEOUT 600 COST 30 ENVIRONMENT CXX=${CMAKE_CXX_COMPILER})
  add_test(NAME install.configure COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/install/configure.sh ${PROJECT_SOURCE_DIR})
  add_test(NAME install.sdist COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/packages/sdist.sh ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  add_test(NAME install.script COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/packages/install_script.sh ${PROJECT_SOURCE_DIR})
  add_test(NAME install.unit COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/packages/unit.sh ${PROJECT_SOURCE_DIR})
  set_tests_properties(install.configure install.sdist install.script install.unit PROPERTIES LABELS install TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT CXX=${CMAKE_CXX_COMPILER})
endif()

include(cmake/long_tests.cmake)
