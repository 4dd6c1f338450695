# Tests that a change is not held up by: `scripts/test` leaves them out, `scripts/test --all` and a plain ctest run them. Each takes 8 seconds or more on two cores, and
# what it looks at is looked at more quickly by another: pages by those of the inspector that are left, PostgreSQL by its own tests, its races and its crashes, agents
# and providers' compactions by the client's lists and the SDKs, a gateway in trouble by its unit tests, scenarios by those of the command.
# Where they run they begin first: one that begins last leaves the other processors idle.
foreach(name IN ITEMS
    inspector.page inspector.xss inspector.large inspector.requests inspector.sessions open_sessions.server
    postgres.contract postgres.standby postgres.command postgres.contract.partitioned postgres.contract.serializable postgres.proxy postgres.pooler
    citus.upgrade citus.forks citus.kill citus.move citus.contract
    python.adapters.types python.adapters.one_conversation python.wheel
    server.scenarios server.bounded server.soak server.files server.generated_client
    stored.releases exec_model schema site parts install
    agents agents.sessions mcp.agent gateway.agents gateway.third_party gateway.compacting gateway.sdk_compaction
    gateway.postgres gateway.faults gateway.many)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS long)
    get_test_property(${name} COST cost)
    if(NOT cost)
      set_tests_properties(${name} PROPERTIES COST 20)
    endif()
  endif()
endforeach()
