# The table of models is compiled in: src/tokens/models.json, a string for each line, since no compiler has to take one of 64 KiB.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tokens/models.json)
file(READ ${PROJECT_SOURCE_DIR}/src/tokens/models.json UNDERTEXT_MODELS_JSON)
string(REPLACE "\\" "\\\\" UNDERTEXT_MODELS_JSON "${UNDERTEXT_MODELS_JSON}")
string(REPLACE "\"" "\\\"" UNDERTEXT_MODELS_JSON "${UNDERTEXT_MODELS_JSON}")
string(REPLACE "\n" "\",\n    \"" UNDERTEXT_MODELS_JSON "${UNDERTEXT_MODELS_JSON}")
set(UNDERTEXT_MODELS_JSON "    \"${UNDERTEXT_MODELS_JSON}\"")
configure_file(cmake/models_json.cpp.in generated/models_json.cpp @ONLY)
