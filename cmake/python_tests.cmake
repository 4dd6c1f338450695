# The package for Python: bindings/python/tests/test_*.py, each a test; the types; every scenario through a program in Python; what the pages quote; a wheel; the adapters with
# the packages that they are for. Label python.

set(python_environment "PYTHONPATH=${UNDERTEXT_PYTHONPATH};PYTHONDONTWRITEBYTECODE=1")
function(undertext_python_test name)
  add_test(NAME python.${name} COMMAND ${ARGN})
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 600 ENVIRONMENT "${python_environment}")
endfunction()

file(GLOB files CONFIGURE_DEPENDS bindings/python/tests/test_*.py)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  string(REGEX REPLACE "^test_" "" name ${name})
  undertext_python_test(${name} ${UNDERTEXT_PYTHON} -m pytest -q -p no:cacheprovider ${file})
endforeach()
if(TARGET undertext_cli)
  set_property(TEST python.same_answers APPEND PROPERTY ENVIRONMENT UNDERTEXT_BINARY=$<TARGET_FILE:undertext_cli>)
endif()
undertext_python_test(types ${UNDERTEXT_PYTHON} -m mypy --strict --cache-dir ${PROJECT_BINARY_DIR}/mypy
  --exclude "undertext/(langchain|langchain_agents|langgraph|openai_agents|pydantic_ai|google_adk|claude_agent_sdk)\\.py$" --exclude tests/adapters ${PROJECT_SOURCE_DIR}/bindings/python/undertext
  ${PROJECT_SOURCE_DIR}/bindings/python/tests ${PROJECT_SOURCE_DIR}/examples/hello.py ${PROJECT_SOURCE_DIR}/examples/own_strategy.py)

# `undertext exec` as the players of scenarios want it: a program of its own.
set(python_exec ${PROJECT_BINARY_DIR}/undertext_python_exec)
file(GENERATE OUTPUT ${python_exec} CONTENT
"#!${UNDERTEXT_BASH}
PYTHONPATH='${UNDERTEXT_PYTHONPATH}' exec '${UNDERTEXT_PYTHON}' '${PROJECT_SOURCE_DIR}/bindings/python/tests/exec.py' \"$@\"
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE)
undertext_python_test(conformance ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/conformance.sh ${UNDERTEXT_PYTHON3} ${python_exec})
set_tests_properties(python.conformance PROPERTIES SKIP_RETURN_CODE 77)
file(GLOB files CONFIGURE_DEPENDS tests/scenarios/*.json)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  undertext_python_test(scenario.${name} ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/play_scenarios.py ${python_exec} ${file})
  set_property(TEST python.scenario.${name} APPEND PROPERTY ENVIRONMENT UNDERTEXT_DOOR=python)
endforeach()
undertext_python_test(random_blocks ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/random_blocks.py ${python_exec})

# A tenth of what the script does by itself.
undertext_python_test(leaks ${UNDERTEXT_PYTHON} ${PROJECT_SOURCE_DIR}/bindings/python/tests/leaks.py 0.1)

if(UNDERTEXT_INSTALL)
  undertext_python_test(wheel ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/bindings/python/tests/wheel.sh ${UNDERTEXT_PYTHON} ${PROJECT_BINARY_DIR})
  set_tests_properties(python.wheel PROPERTIES COST 30)
endif()

foreach(name hello agent_asyncio own_strategy)
  undertext_python_test(example.${name} ${UNDERTEXT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/quoted_example.py ${PROJECT_SOURCE_DIR}/docs/python.md
    ${PROJECT_SOURCE_DIR}/examples/${name}.py ${UNDERTEXT_PYTHON} ${PROJECT_SOURCE_DIR}/examples/${name}.py)
endforeach()
undertext_python_test(example.context_tools ${UNDERTEXT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/quoted_example.py ${PROJECT_SOURCE_DIR}/docs/tools.md
  ${PROJECT_SOURCE_DIR}/examples/context_tools.py ${UNDERTEXT_PYTHON} ${PROJECT_SOURCE_DIR}/examples/context_tools.py)

# scripts/python --adapters puts the packages of others into an environment of their own.
set(adapters_python ${PROJECT_SOURCE_DIR}/build/venv-adapters/bin/python)
file(GLOB adapters_found CONFIGURE_DEPENDS ${adapters_python})
if(NOT adapters_found)
  undertext_without(python-adapters "the packages of others are not there (scripts/python --adapters): the adapters for Python are not tested")
  return()
endif()
set(adapters ${PROJECT_SOURCE_DIR}/bindings/python/tests/adapters)
file(GLOB files CONFIGURE_DEPENDS bindings/python/tests/adapters/test_*.py)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  string(REGEX REPLACE "^test_" "" name ${name})
  undertext_python_test(adapters.${name} ${adapters_python} -m pytest -q -p no:cacheprovider ${file})
endforeach()
# On a throw-away PostgreSQL, where that is installed.
if(UNDERTEXT_HAVE_POSTGRES)
  undertext_python_test(adapters.on_postgres ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/server.py
    ${adapters_python} -m pytest -q -p no:cacheprovider ${adapters}/on_postgres.py)
  set_tests_properties(python.adapters.on_postgres PROPERTIES LABELS "python;postgres" SKIP_RETURN_CODE 77)
endif()
undertext_python_test(adapters.types ${adapters_python} -m mypy --strict --cache-dir ${PROJECT_BINARY_DIR}/mypy-adapters
  ${PROJECT_SOURCE_DIR}/bindings/python/undertext ${adapters})
set_tests_properties(python.adapters.types PROPERTIES TIMEOUT 1800 COST 60) # it reads the types of packages that have many
foreach(name langchain_history langchain_agent langgraph_checkpoints agents_session pydantic_ai_agent google_adk_agent claude_sessions)
  undertext_python_test(adapters.example.${name} ${adapters_python} ${PROJECT_SOURCE_DIR}/tests/quoted_example.py ${PROJECT_SOURCE_DIR}/docs/adapters.md
    ${PROJECT_SOURCE_DIR}/examples/${name}.py ${adapters_python} ${PROJECT_SOURCE_DIR}/examples/${name}.py)
endforeach()
