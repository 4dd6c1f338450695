# The package for Python, where scripts/python has put an interpreter and nanobind into build/venv: it stands in <build>/python, ready for PYTHONPATH. Wheels are made
# by bindings/python/pyproject.toml.

set(UNDERTEXT_PYTHON ${PROJECT_SOURCE_DIR}/build/venv/bin/python CACHE FILEPATH "The interpreter whose package is built, with nanobind in it")
# So that ninja looks again once it is there. Never the first python3 of the PATH: its headers and nanobind may be another's, or missing.
file(GLOB python_found CONFIGURE_DEPENDS ${UNDERTEXT_PYTHON})
if(NOT PROJECT_IS_TOP_LEVEL OR UNDERTEXT_SANITIZE) # an interpreter without sanitizers cannot load a module with them
  return()
endif()
if(NOT python_found)
  undertext_without(python "there is no ${UNDERTEXT_PYTHON} (scripts/python makes it): the package for Python is not built")
  return()
endif()
set(Python_EXECUTABLE ${UNDERTEXT_PYTHON})
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
  undertext_without(python "the headers of ${UNDERTEXT_PYTHON} are missing: the package for Python is not built")
  return()
endif()
include(bindings/python/module.cmake)
undertext_compile_options(undertext_native)

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
