# The room postgres keeps conversations in PostgreSQL through libpq. Where libpq is not found, or not wanted, everything else is built all the
# same, and open_store("postgres://…") answers `unsupported`.

option(UNDERTEXT_POSTGRES "Keep conversations in PostgreSQL, where libpq is found" ON)
set(UNDERTEXT_HAVE_POSTGRES 0)
set(pkgconfig_postgres "")
if(UNDERTEXT_POSTGRES)
  find_package(PostgreSQL 14 QUIET) # the first libpq with pipelines
  if(PostgreSQL_FOUND)
    set(UNDERTEXT_HAVE_POSTGRES 1)
    set(pkgconfig_postgres "-lpq")
    file(GLOB postgres_sources CONFIGURE_DEPENDS src/postgres/*.cpp)
    set_source_files_properties(${postgres_sources} PROPERTIES INCLUDE_DIRECTORIES "${PostgreSQL_INCLUDE_DIRS}")
    # By name, so that the installed package does not hold the path it was built with.
    foreach(target undertext undertext_static)
      target_link_libraries(${target} PRIVATE pq)
    endforeach()
  else()
    undertext_without(postgres "libpq is not installed: open_store(\"postgres://…\") will answer `unsupported`")
  endif()
endif()
if(NOT UNDERTEXT_HAVE_POSTGRES)
  get_target_property(sources undertext_objects SOURCES)
  list(FILTER sources EXCLUDE REGEX "/src/postgres/")
  set_property(TARGET undertext_objects PROPERTY SOURCES ${sources})
endif()
set_property(SOURCE src/stores/open_store.cpp APPEND PROPERTY COMPILE_DEFINITIONS UNDERTEXT_HAVE_POSTGRES=${UNDERTEXT_HAVE_POSTGRES})

# Called by cmake/tests.cmake: a throw-away server for each test, where PostgreSQL is installed; without it they are skipped.
function(undertext_postgres_tests)
  add_test(NAME postgres.sql_lint COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/sql_lint.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(postgres.sql_lint PROPERTIES LABELS architecture)
  if(NOT UNDERTEXT_HAVE_POSTGRES)
    return()
  endif()
  add_executable(undertext_postgres_test tests/postgres/store_test.cpp)
  undertext_compile_options(undertext_postgres_test)
  target_include_directories(undertext_postgres_test SYSTEM PRIVATE ${PostgreSQL_INCLUDE_DIRS})
  target_link_libraries(undertext_postgres_test PRIVATE undertext_static GTest::gtest_main pq Threads::Threads)
  # Writers in several processes, and the checker of what they left: for every kind of store.
  add_executable(undertext_racing tests/postgres/racing_main.cpp)
  undertext_compile_options(undertext_racing)
  target_link_libraries(undertext_racing PRIVATE undertext_static Threads::Threads)

  add_executable(undertext_turns tests/postgres/turns_main.cpp)
  undertext_compile_options(undertext_turns)
  target_link_libraries(undertext_turns PRIVATE undertext_static Threads::Threads)

  set(server ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/server.py)
  set(faults ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/faults.py $<TARGET_FILE:undertext_racing>)
  set(serializable ${CMAKE_COMMAND} -E env PGOPTIONS=-cdefault_transaction_isolation=serializable)
  set(contract $<TARGET_FILE:undertext_store_contract_test> --gtest_filter=*/postgres)
  # But for the tests in which each call fails once: thousands of commits, which fail before they reach a server, of whatever kind it is.
  set(contract_of_answers ${contract}:-*EveryFunction*:*FailsAtAnyCall*)
  set(racing_contract $<TARGET_FILE:undertext_store_contract_concurrency_test> --gtest_filter=*/postgres)
  add_test(NAME postgres.store COMMAND ${server} $<TARGET_FILE:undertext_postgres_test>)
  add_test(NAME postgres.contract COMMAND ${server} ${contract})
  add_test(NAME postgres.contract.partitioned
    COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/partitioned.py ${contract_of_answers})
  add_test(NAME postgres.contract.racing COMMAND ${server} ${racing_contract})
  add_test(NAME postgres.contract.serializable COMMAND ${server} ${serializable} ${contract_of_answers})
  add_test(NAME postgres.contract.racing.serializable COMMAND ${server} ${serializable} ${racing_contract})
  set(tests "")
  if(TARGET undertext_cli)
    add_test(NAME postgres.command COMMAND ${server} ${UNDERTEXT_BASH} ${PROJECT_SOURCE_DIR}/tests/postgres/command.sh
      ${UNDERTEXT_PYTHON3} $<TARGET_FILE:undertext_cli>)
    add_test(NAME postgres.reconcile_race COMMAND ${server} ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/reconcile_race_test.py
      $<TARGET_FILE:undertext_cli>)
    add_test(NAME postgres.redacted_words COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/redacted_words.py
      $<TARGET_FILE:undertext_cli>)
    list(APPEND tests postgres.command postgres.reconcile_race postgres.redacted_words)
    # On a cluster of Citus, where PostgreSQL has it; without it they are skipped. The longer forms of citus.py are run by hand.
    set(citus ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/citus.py
      $<TARGET_FILE:undertext_racing> $<TARGET_FILE:undertext_cli>)
    foreach(test "upgrade" "forks;2" "kill;2" "cut;3" "move;1" "grow")
      list(GET test 0 name)
      add_test(NAME citus.${name} COMMAND ${citus} ${test})
      list(APPEND tests citus.${name})
    endforeach()
    add_test(NAME citus.contract COMMAND ${UNDERTEXT_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/postgres/cluster.py
      $<TARGET_FILE:undertext_cli> ${contract_of_answers})
    list(APPEND tests citus.contract)
  endif()
  foreach(fault racing crash cut proxy failover standby pooler)
    add_test(NAME postgres.${fault} COMMAND ${faults} ${fault})
    list(APPEND tests postgres.${fault})
  endforeach()
  set_tests_properties(postgres.store postgres.contract postgres.contract.partitioned postgres.contract.racing
    postgres.contract.serializable postgres.contract.racing.serializable ${tests} PROPERTIES LABELS "unit;postgres" TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()
