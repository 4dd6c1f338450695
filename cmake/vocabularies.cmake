# Vocabularies, which scripts/vocabularies puts into one folder for all builds of this source. The library looks beside itself, so every
# folder with programs in it gets a link; it may lead nowhere until that script has run.

set(UNDERTEXT_VOCABULARIES ${PROJECT_SOURCE_DIR}/build/vocabularies CACHE PATH "Where scripts/vocabularies has put the vocabularies")

foreach(folder ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/bench)
  if(NOT "${folder}/vocabularies" STREQUAL UNDERTEXT_VOCABULARIES)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${UNDERTEXT_VOCABULARIES} ${folder}/vocabularies SYMBOLIC RESULT ignored)
  endif()
endforeach()

if(UNDERTEXT_INSTALL)
  install(DIRECTORY ${UNDERTEXT_VOCABULARIES}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/undertext/vocabularies OPTIONAL COMPONENT command
    FILES_MATCHING PATTERN "*.vocabulary" PATTERN "ranks" EXCLUDE)
endif()
