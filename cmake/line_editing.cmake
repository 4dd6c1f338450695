# libedit, for `undertext shell`. Where it is not found, lines are read as they come.

find_path(UNDERTEXT_EDITLINE_INCLUDE editline/readline.h)
find_library(UNDERTEXT_EDITLINE_LIBRARY edit)
mark_as_advanced(UNDERTEXT_EDITLINE_INCLUDE UNDERTEXT_EDITLINE_LIBRARY)
set(UNDERTEXT_HAVE_EDITLINE 0)
if(UNDERTEXT_EDITLINE_INCLUDE AND UNDERTEXT_EDITLINE_LIBRARY)
  set(UNDERTEXT_HAVE_EDITLINE 1)
  target_include_directories(undertext_cli_room SYSTEM PRIVATE ${UNDERTEXT_EDITLINE_INCLUDE})
  target_link_libraries(undertext_cli_room PUBLIC ${UNDERTEXT_EDITLINE_LIBRARY})
else()
  undertext_without(line-editing "libedit is not installed: `undertext shell` reads lines as they come")
endif()
set_source_files_properties(src/cli/line_input.cpp PROPERTIES COMPILE_DEFINITIONS "UNDERTEXT_HAVE_EDITLINE=${UNDERTEXT_HAVE_EDITLINE}")
