# The npm package: each bindings/node/tests/*.test.ts a test, compiled by scripts/node; skipped where that has not been run. Label node.
if(NOT TARGET undertext_node)
  return()
endif()
set(run_node ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/bindings/node/tests/run.sh $<TARGET_FILE:undertext_node>)
file(GLOB files CONFIGURE_DEPENDS bindings/node/tests/*.test.ts)
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  string(REGEX REPLACE "\\.test\\.ts$" "" name ${name})
  add_test(NAME node.${name} COMMAND ${run_node} --expose-gc --test-reporter=spec --test dist/tests/${name}.test.js)
  set_tests_properties(node.${name} PROPERTIES LABELS node TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()

# The documents' names (bindings/node/src/sdk), as one test.
file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bindings/node bindings/node/tests/sdk/*.test.ts)
list(TRANSFORM files PREPEND dist/)
list(TRANSFORM files REPLACE "\\.ts$" ".js")
add_test(NAME node.sdk COMMAND ${run_node} --expose-gc --test-reporter=spec --test ${files})
set_tests_properties(node.sdk PROPERTIES LABELS node TIMEOUT 300 SKIP_RETURN_CODE 77)
