# tests/server: the command `undertext serve` as a process, over sockets of this machine; label server.
if(NOT UNDERTEXT_HAVE_SERVER OR NOT UNDERTEXT_HAVE_SQLITE)
  return()
endif()
foreach(name security kill import_kill tls contract examples events memory bounded files)
  undertext_script_test(server.${name} server server/${name}.py)
endforeach()
# tests/gateway: the command `undertext gateway` between clients and an upstream of this machine.
if(UNDERTEXT_HAVE_CURL)
  foreach(name wire faults security many recording wrap tls)
    undertext_script_test(gateway.${name} server gateway/${name}.py)
  endforeach()
  foreach(peer sdks clients) # for Python, for TypeScript
    undertext_script_test(gateway.${peer} server gateway/sdks.py ${PROJECT_SOURCE_DIR}/build/peers/${peer})
  endforeach()
  undertext_script_test(gateway.agents server gateway/agents.py ${PROJECT_SOURCE_DIR}/build/peers/agents)
  set_tests_properties(gateway.sdks gateway.clients gateway.agents gateway.tls PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(gateway.faults gateway.many PROPERTIES RUN_SERIAL ON)
  if(UNDERTEXT_SANITIZE)
    set_tests_properties(gateway.faults gateway.many gateway.recording gateway.tls gateway.wrap PROPERTIES ENVIRONMENT UNDERTEXT_SANITIZED=1)
  endif()
endif()
# tests/mcp: the Model Context Protocol over stdio and HTTP; with others' clients where scripts/peers could get them.
foreach(name over_stdio over_http)
  undertext_script_test(mcp.${name} server mcp/${name}.py)
endforeach()
set(mcp_peer ${PROJECT_SOURCE_DIR}/build/peers/mcp-node)
undertext_script_test(mcp.clients server mcp/clients.py ${PROJECT_SOURCE_DIR}/build/peers/mcp ${mcp_peer})
undertext_script_test(mcp.conformance server mcp/conformance.py ${mcp_peer})
undertext_script_test(mcp.agent server mcp/agent.py ${PROJECT_SOURCE_DIR}/build/peers/agents)
set_tests_properties(mcp.clients mcp.conformance mcp.agent PROPERTIES SKIP_RETURN_CODE 77)
if(UNDERTEXT_SANITIZE)
  # Sizes and times say nothing about what users get.
  set_tests_properties(server.security server.kill server.memory server.bounded PROPERTIES ENVIRONMENT UNDERTEXT_SANITIZED=1)
else()
  undertext_script_test(server.soak server server/soak.py)
  set_tests_properties(server.soak PROPERTIES RUN_SERIAL ON)
endif()
set_tests_properties(server.security server.bounded PROPERTIES RUN_SERIAL ON)
undertext_script_test(server.openapi server server/openapi.py ${PROJECT_SOURCE_DIR}/build/peers/openapi/bin/python)
undertext_script_test(server.generated_client server server/generated_client.py ${PROJECT_SOURCE_DIR}/build/peers/generators)
# What is played through `undertext exec` is played over HTTP too: all scenarios of ours, and those that lie beside the repository.
file(GLOB scenario_files CONFIGURE_DEPENDS tests/scenarios/*.json)
undertext_script_test(server.scenarios server server/scenarios.py ${PROJECT_SOURCE_DIR}/tests/play_scenarios.py ${scenario_files})
undertext_script_test(server.random_blocks server server/scenarios.py ${PROJECT_SOURCE_DIR}/tests/random_blocks.py)
undertext_script_test(server.conformance server server/scenarios.py ${PROJECT_SOURCE_DIR}/../shared/conformance/run.py)
set_tests_properties(server.openapi server.generated_client server.conformance server.examples server.tls PROPERTIES SKIP_RETURN_CODE 77)
# On a throw-away PostgreSQL, where that is installed.
if(UNDERTEXT_HAVE_POSTGRES)
  add_test(NAME server.two_on_postgres
    COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/server.py
      ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/server/two_on_postgres.py $<TARGET_FILE:undertext_cli>)
  set_tests_properties(server.two_on_postgres PROPERTIES LABELS "server;postgres" TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

undertext_script_test(names architecture names_test.py ${PROJECT_SOURCE_DIR})
# The types of other languages are what the schema says.
add_test(NAME types COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/bindings/types/make.py $<TARGET_FILE:undertext_cli> --check)
set_tests_properties(types PROPERTIES LABELS architecture TIMEOUT 300)
