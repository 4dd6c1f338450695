# The module undertext._native, from undertext.h and one library. Needs Python_EXECUTABLE, whose environment has nanobind.

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_ROOT} NO_DEFAULT_PATH)

file(GLOB native_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/native/*.cpp)
nanobind_add_module(undertext_native NB_STATIC NOMINSIZE ${native_sources})
target_compile_features(undertext_native PRIVATE cxx_std_20)
# Not our code: none of our warnings.
target_include_directories(undertext_native SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
target_link_libraries(undertext_native PRIVATE undertext::undertext_static)
# One symbol is to be seen. The engine and its SQLite are this module's own, whatever else the process has loaded.
set(symbols ${CMAKE_CURRENT_LIST_DIR}/native/symbols.map)
target_link_options(undertext_native PRIVATE -Wl,--version-script=${symbols})
set_target_properties(undertext_native PROPERTIES OUTPUT_NAME _native LINK_DEPENDS ${symbols})
