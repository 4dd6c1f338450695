# The npm package: each bindings/node/tests/*.test.ts a test, compiled by scripts/node; skipped where that has not been run. Label node.
if(NOT TARGET undertext_node)
  return()
endif()
set(run_node ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/bindings/node/tests/run.sh $<TARGET_FILE:undertext_node>)

# The documents' names (bindings/node/src/sdk), as one test.
file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bindings/node bindings/node/tests/sdk/*.test.ts)
set(examples managers)
if(UNDERTEXT_HAVE_SQLITE)
  list(APPEND examples stored_manager)
else()
  list(FILTER files EXCLUDE REGEX "/stored_")
endif()
list(TRANSFORM files PREPEND dist/)
list(TRANSFORM files REPLACE "\\.ts$" ".js")
add_test(NAME node.sdk COMMAND ${run_node} --expose-gc --test-reporter=spec --test ${files})
set_tests_properties(node.sdk PROPERTIES LABELS node TIMEOUT 300 SKIP_RETURN_CODE 77)
# Read from standard input, so that its imports are looked up where the package is.
foreach(name IN LISTS examples)
  set(example ${PROJECT_SOURCE_DIR}/examples/${name}.mjs)
  add_test(NAME example.${name} COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/quoted_example.py ${PROJECT_SOURCE_DIR}/docs/sdk.md ${example}
    ${UNDERTEXT_BASH} -c "exec \"$@\" <${example}" - ${run_node} --input-type=module -)
  set_tests_properties(example.${name} PROPERTIES LABELS "example;node" TIMEOUT 60 SKIP_RETURN_CODE 77)
endforeach()

file(GLOB files CONFIGURE_DEPENDS bindings/node/tests/*.test.ts)
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  string(REGEX REPLACE "\\.test\\.ts$" "" name ${name})
  add_test(NAME node.${name} COMMAND ${run_node} --expose-gc --test-reporter=spec --test dist/tests/${name}.test.js)
  set_tests_properties(node.${name} PROPERTIES LABELS node TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()

# Every scenario through the package, beside the command.
if(TARGET undertext_cli)
  set(node_exec ${PROJECT_SOURCE_DIR}/bindings/node/tests/exec.sh)
  set(node_environment UNDERTEXT_DOOR=node UNDERTEXT_NODE_ADDON=$<TARGET_FILE:undertext_node>)
  add_test(NAME node.conformance COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/conformance.sh ${UNDERTEXT_PYTHON3} ${node_exec})
  set(node_scenarios node.conformance)
  file(GLOB files CONFIGURE_DEPENDS tests/scenarios/*.json)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    add_test(NAME node.scenario.${name}
      COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/same_answers.py $<TARGET_FILE:undertext_cli> ${node_exec} ${file})
    list(APPEND node_scenarios node.scenario.${name})
  endforeach()
  set_tests_properties(${node_scenarios} PROPERTIES LABELS "scenario;node" TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${node_environment}")
endif()
