# undertext.h: the door for C, part of both libraries. Its symbols carry the version UNDERTEXT_C_1, so that a later one can stand beside it.

file(GLOB c_sources CONFIGURE_DEPENDS bindings/c/*.cpp)
target_sources(undertext_objects PRIVATE ${c_sources})
target_include_directories(undertext_objects PRIVATE bindings/c)
if(NOT APPLE) # whose symbols have no versions
  target_link_options(undertext PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/bindings/c/symbols.map)
  set_property(TARGET undertext APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/c/symbols.map)
endif()
foreach(library undertext undertext_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/c>)
endforeach()
