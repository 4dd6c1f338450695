# The command on a store: what is played in memory is played on SQLite too, in a file of the build folder.
if(NOT UNDERTEXT_HAVE_SQLITE)
  return()
endif()
set(stored_folder ${CMAKE_CURRENT_BINARY_DIR}/stored)
file(REMOVE_RECURSE ${stored_folder})
file(MAKE_DIRECTORY ${stored_folder})
set(stored_environment UNDERTEXT_BINARY=$<TARGET_FILE:undertext_cli> UNDERTEXT_TEST_STORE=sqlite:${stored_folder}/scenarios.db)

add_test(NAME stored.conformance
  COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/conformance.sh ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/stored.sh)
set_tests_properties(stored.conformance PROPERTIES LABELS scenario TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${stored_environment}")
file(GLOB files CONFIGURE_DEPENDS tests/scenarios/*.json)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_test(NAME stored.scenario.${name}
    COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/play_scenarios.py ${PROJECT_SOURCE_DIR}/tests/stored.sh ${file})
  set_tests_properties(stored.scenario.${name} PROPERTIES LABELS scenario TIMEOUT 900 ENVIRONMENT "${stored_environment}")
endforeach()
undertext_script_test(merge_fork_model model merge_fork_model.py)
undertext_script_test(stored.exec_model model exec_model.py sqlite:${stored_folder}/exec_model.db)
set_tests_properties(stored.exec_model PROPERTIES ENVIRONMENT STEPS=600)
undertext_script_test(stored.racing scenario racing.py sqlite:${stored_folder}/racing.db)
# Stores of released binaries, read, replayed and written to by this one; with a sanitizer those that have every record between them.
set(stored_releases)
if(UNDERTEXT_SANITIZE)
  set(stored_releases 0.1.0/operations 0.1.0/pairs 0.1.0/pruned 0.1.0/redaction schema5-tag33/operations schema5-tag33/merged_forks)
endif()
undertext_script_test(stored.releases scenario stored/stored_releases_test.py ${stored_releases})
