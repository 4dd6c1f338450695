# The package for Python, where its interpreter and nanobind are: scripts/python puts both into build/venv. In a build of ours the package stands in <build>/python, ready for
# PYTHONPATH; in a build of a wheel (bindings/python/pyproject.toml) the module is all that is installed.

set(UNDERTEXT_PYTHON ${PROJECT_SOURCE_DIR}/build/venv/bin/python CACHE FILEPATH "The interpreter whose package is built, with nanobind in it")
set(UNDERTEXT_HAVE_PYTHON 0)
if(SKBUILD)
  set(UNDERTEXT_PYTHON ${Python_EXECUTABLE})
endif()
# So that ninja looks again once it is there.
file(GLOB python_found CONFIGURE_DEPENDS ${UNDERTEXT_PYTHON})
if(NOT python_found OR UNDERTEXT_SANITIZE) # an interpreter without sanitizers cannot load a module with them
  return()
endif()
# Never the first python3 of the PATH: the venv's own interpreter and its headers.
set(Python_EXECUTABLE ${UNDERTEXT_PYTHON})
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${UNDERTEXT_PYTHON} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT Python_FOUND OR NOT nanobind_ROOT)
  message(STATUS "there is no nanobind or no header of Python for ${UNDERTEXT_PYTHON}: the package for Python is not built")
  return()
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_ROOT} NO_DEFAULT_PATH)
set(UNDERTEXT_HAVE_PYTHON 1)

file(GLOB native_sources CONFIGURE_DEPENDS bindings/python/native/*.cpp)
nanobind_add_module(undertext_native NB_STATIC NOMINSIZE ${native_sources})
undertext_compile_options(undertext_native)
# Not our code: none of our warnings.
target_include_directories(undertext_native SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
target_link_libraries(undertext_native PRIVATE undertext_static)
# One symbol is to be seen. The engine and its SQLite are this module's own, whatever else the process has loaded.
set(symbols ${PROJECT_SOURCE_DIR}/bindings/python/native/symbols.map)
target_link_options(undertext_native PRIVATE -Wl,--version-script=${symbols})
set_target_properties(undertext_native PROPERTIES OUTPUT_NAME _native LINK_DEPENDS ${symbols})
if(SKBUILD)
  install(TARGETS undertext_native DESTINATION undertext COMPONENT python)
  return()
endif()

set(UNDERTEXT_PYTHONPATH ${PROJECT_BINARY_DIR}/python)
set_target_properties(undertext_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${UNDERTEXT_PYTHONPATH}/undertext)
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bindings/python
  bindings/python/undertext/*.py bindings/python/undertext/*.pyi bindings/python/undertext/py.typed)
set(python_copies "")
foreach(source IN LISTS python_sources)
  add_custom_command(OUTPUT ${UNDERTEXT_PYTHONPATH}/${source} DEPENDS ${PROJECT_SOURCE_DIR}/bindings/python/${source}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/bindings/python/${source} ${UNDERTEXT_PYTHONPATH}/${source})
  list(APPEND python_copies ${UNDERTEXT_PYTHONPATH}/${source})
endforeach()
add_custom_target(undertext_python ALL DEPENDS ${python_copies} undertext_native)

if(UNDERTEXT_TESTS)
  # Everything below bindings/python/tests that is called test_*.py, each a test.
  file(GLOB files CONFIGURE_DEPENDS bindings/python/tests/test_*.py)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(REGEX REPLACE "^test_" "" name ${name})
    add_test(NAME python.${name} COMMAND ${UNDERTEXT_PYTHON} -m pytest -q -p no:cacheprovider ${file})
    set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 300 ENVIRONMENT "PYTHONPATH=${UNDERTEXT_PYTHONPATH};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
