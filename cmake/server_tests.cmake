# tests/server: the command `undertext serve` as a process, over sockets of this machine; label server.
if(NOT UNDERTEXT_HAVE_SERVER OR NOT UNDERTEXT_HAVE_SQLITE)
  return()
endif()
foreach(name security kill contract examples events)
  undertext_script_test(server.${name} server server/${name}.py)
endforeach()
if(UNDERTEXT_SANITIZE)
  # Sizes and times say nothing about what users get.
  set_tests_properties(server.security server.kill PROPERTIES ENVIRONMENT UNDERTEXT_SANITIZED=1)
else()
  undertext_script_test(server.soak server server/soak.py)
  set_tests_properties(server.soak PROPERTIES RUN_SERIAL ON)
endif()
set_tests_properties(server.security PROPERTIES RUN_SERIAL ON)
undertext_script_test(server.openapi server server/openapi.py ${PROJECT_BINARY_DIR}/openapi_validator)
# What is played through `undertext exec` is played over HTTP too: all scenarios of ours, and those that lie beside the repository.
file(GLOB scenario_files CONFIGURE_DEPENDS tests/scenarios/*.json)
undertext_script_test(server.scenarios server server/scenarios.py ${PROJECT_SOURCE_DIR}/tests/play_scenarios.py ${scenario_files})
undertext_script_test(server.conformance server server/scenarios.py ${PROJECT_SOURCE_DIR}/../shared/conformance/run.py)
set_tests_properties(server.openapi server.conformance server.examples PROPERTIES SKIP_RETURN_CODE 77)

undertext_script_test(names architecture names_test.py ${PROJECT_SOURCE_DIR})
