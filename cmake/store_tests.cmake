# tests/store: the contract of every store, as two executables; what races is also for the thread sanitizer.
file(GLOB tests CONFIGURE_DEPENDS tests/store/*_test.cpp)
if(NOT UNDERTEXT_HAVE_SQLITE)
  list(FILTER tests EXCLUDE REGEX "/sqlite[^/]*_test\\.cpp$")
endif()
undertext_tests_of_their_own(undertext_store_contract tests)
undertext_test(undertext_store_contract_test unit ${tests})
if(UNDERTEXT_HAVE_SQLITE)
  target_include_directories(undertext_store_contract_test SYSTEM PRIVATE ${UNDERTEXT_SQLITE})
endif()

# tests/crash: what a store survives, each file a short run of what scripts/torture runs for long; label crash.
if(UNDERTEXT_HAVE_SQLITE)
  file(GLOB tests CONFIGURE_DEPENDS tests/crash/*_test.cpp)
  foreach(file IN LISTS tests)
    cmake_path(GET file STEM name)
    undertext_test(undertext_crash_${name} crash ${file} tests/crash/story.cpp tests/crash/recording_vfs.cpp)
    target_include_directories(undertext_crash_${name} SYSTEM PRIVATE ${UNDERTEXT_SQLITE})
  endforeach()
endif()
if(TARGET undertext_crash_memory_faults_test AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes an inlined operator delete of our own, which calls free, for one that does not fit operator new.
  target_compile_options(undertext_crash_memory_faults_test PRIVATE -Wno-mismatched-new-delete)
endif()
