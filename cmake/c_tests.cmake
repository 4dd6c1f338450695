# The door for C, from programs in C11: a test of its own, and every scenario played through it.

if(NOT CMAKE_C_COMPILER AND CMAKE_CXX_COMPILER MATCHES "clang\\+\\+")
  string(REPLACE "clang++" "clang" CMAKE_C_COMPILER ${CMAKE_CXX_COMPILER})
endif()
enable_language(C)
foreach(name c_test c_exec)
  add_executable(undertext_${name} tests/c/${name}.c)
  # mkdtemp is POSIX.
  target_compile_definitions(undertext_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  set_target_properties(undertext_${name} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF C_STANDARD_REQUIRED ON)
  target_compile_options(undertext_${name} PRIVATE -Wall -Wextra -Wpedantic -Wstrict-prototypes $<$<BOOL:${UNDERTEXT_WERROR}>:-Werror>)
  target_link_libraries(undertext_${name} PRIVATE undertext Threads::Threads)
endforeach()
if(UNDERTEXT_SANITIZE)
  # What the sanitizers need of C++ is not in the runtime that a C program is linked with.
  set_target_properties(undertext_c_test undertext_c_exec PROPERTIES LINKER_LANGUAGE CXX)
endif()
add_test(NAME c.door COMMAND undertext_c_test)
set_tests_properties(c.door PROPERTIES LABELS unit TIMEOUT 120)

add_test(NAME c.conformance
  COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/conformance.sh ${UNDERTEXT_PYTHON3} $<TARGET_FILE:undertext_c_exec>)
set_tests_properties(c.conformance PROPERTIES LABELS scenario TIMEOUT 900 SKIP_RETURN_CODE 77)
file(GLOB files CONFIGURE_DEPENDS tests/scenarios/*.json)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_test(NAME c.scenario.${name} COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/play_scenarios.py $<TARGET_FILE:undertext_c_exec> ${file})
  set_tests_properties(c.scenario.${name} PROPERTIES LABELS scenario TIMEOUT 300 ENVIRONMENT UNDERTEXT_DOOR=c)
endforeach()
add_test(NAME c.random_blocks COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/random_blocks.py $<TARGET_FILE:undertext_c_exec>)
set_tests_properties(c.random_blocks PROPERTIES LABELS scenario TIMEOUT 300)

add_executable(undertext_example_hello_c examples/hello.c)
target_link_libraries(undertext_example_hello_c PRIVATE undertext)
if(UNDERTEXT_SANITIZE)
  set_target_properties(undertext_example_hello_c PROPERTIES LINKER_LANGUAGE CXX)
endif()
add_test(NAME example.hello_c COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/quoted_example.py ${PROJECT_SOURCE_DIR}/docs/c.md
  ${PROJECT_SOURCE_DIR}/examples/hello.c $<TARGET_FILE:undertext_example_hello_c>)
set_tests_properties(example.hello_c PROPERTIES LABELS example TIMEOUT 60)
