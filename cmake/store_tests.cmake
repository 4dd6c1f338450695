# tests/store: the contract of every store, as two executables; what races is also for the thread sanitizer.
file(GLOB tests CONFIGURE_DEPENDS tests/store/*_test.cpp)
if(NOT UNDERTEXT_HAVE_SQLITE)
  list(FILTER tests EXCLUDE REGEX "/sqlite[^/]*_test\\.cpp$")
endif()
undertext_tests_of_their_own(undertext_store_contract tests)
undertext_test(undertext_store_contract_test unit ${tests})
