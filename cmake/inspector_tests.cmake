# The inspector in a real browser: tests/inspector/*_test.mjs, each a test; skipped where Node, Chromium or the built page are missing. Label inspector.
if(TARGET undertext_cli AND UNDERTEXT_HAVE_SERVER AND NOT UNDERTEXT_SANITIZE)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/inspector tests/inspector/*_test.mjs)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "_test\\.mjs$" "" name ${file})
    add_test(NAME inspector.${name} COMMAND ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/inspector/run.sh
      $<TARGET_FILE:undertext_cli> ${file} ${PROJECT_SOURCE_DIR}/build/inspector-screenshots)
    set_tests_properties(inspector.${name} PROPERTIES LABELS inspector TIMEOUT 900 SKIP_RETURN_CODE 77)
  endforeach()
  # It tells how long things take.
  set_tests_properties(inspector.large PROPERTIES RUN_SERIAL ON)
endif()
