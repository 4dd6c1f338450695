# Each bench/*_bench.cpp is one program of its own, in the build folder under bench/.

find_package(benchmark QUIET)
if(NOT benchmark_FOUND)
  undertext_without(benchmarks "Google Benchmark is not installed: there are no benchmarks")
  return()
endif()
file(GLOB files CONFIGURE_DEPENDS bench/*_bench.cpp)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  undertext_compile_options(${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes an inlined operator delete of our own, which counts and calls free, for one that does not fit operator new.
    target_compile_options(${name} PRIVATE -Wno-mismatched-new-delete)
  endif()
  target_link_libraries(${name} PRIVATE undertext_static benchmark::benchmark_main benchmark::benchmark Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()

# The part of scripts/bench-tokenizers that is ours; it needs no Google Benchmark, but belongs here.
add_executable(tokenizers_run bench/tokenizers_run.cpp)
undertext_compile_options(tokenizers_run)
target_link_libraries(tokenizers_run PRIVATE undertext_static Threads::Threads)
set_target_properties(tokenizers_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

# Likewise for scripts/bench-stores and scripts/bench-conversations.
if(UNDERTEXT_HAVE_SQLITE)
  foreach(name stores_run conversations_run)
    add_executable(${name} bench/${name}.cpp)
    undertext_compile_options(${name})
    target_include_directories(${name} SYSTEM PRIVATE ${UNDERTEXT_SQLITE})
    target_link_libraries(${name} PRIVATE undertext_static Threads::Threads)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  endforeach()
endif()

# Likewise for scripts/bench-node.
add_executable(node_calls_run bench/node/calls_run.cpp)
undertext_compile_options(node_calls_run)
target_link_libraries(node_calls_run PRIVATE undertext_static Threads::Threads)
set_target_properties(node_calls_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
