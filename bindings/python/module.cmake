# The module undertext._native, from undertext.h and one library. Needs Python_EXECUTABLE, whose environment has nanobind.

set(stable_interface "")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
  set(stable_interface OPTIONAL_COMPONENTS Development.SABIModule)
endif()
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module ${stable_interface})
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_ROOT} NO_DEFAULT_PATH)

file(GLOB native_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/native/*.cpp)
# From Python 3.12 on one module serves all that follow.
nanobind_add_module(undertext_native STABLE_ABI NB_STATIC NOMINSIZE ${native_sources})
target_compile_features(undertext_native PRIVATE cxx_std_20)
target_compile_options(undertext_native PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/native/stable_abi.hpp)
# Not our code: none of our warnings.
target_include_directories(undertext_native SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
target_link_libraries(undertext_native PRIVATE undertext::undertext_static)
# One symbol is to be seen. The engine and its SQLite are this module's own, whatever else the process has loaded.
set_target_properties(undertext_native PROPERTIES OUTPUT_NAME _native)
if(APPLE)
  target_link_options(undertext_native PRIVATE -Wl,-exported_symbol,_PyInit__native)
else()
  set(symbols ${CMAKE_CURRENT_LIST_DIR}/native/symbols.map)
  target_link_options(undertext_native PRIVATE -Wl,--version-script=${symbols})
  set_target_properties(undertext_native PROPERTIES LINK_DEPENDS ${symbols})
endif()
