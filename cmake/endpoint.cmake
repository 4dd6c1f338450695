# The room endpoint reaches models through libcurl. Where libcurl is not found, or not wanted, everything else is built all the same, and
# endpoint_summariser() answers `unsupported`.

option(UNDERTEXT_ENDPOINT "Reach models over HTTP, where libcurl is found" ON)
set(UNDERTEXT_HAVE_CURL 0)
set(pkgconfig_curl "")
if(UNDERTEXT_ENDPOINT)
  find_package(CURL 7.68 QUIET) # the first with curl_multi_wakeup
  if(CURL_FOUND)
    set(UNDERTEXT_HAVE_CURL 1)
    # As a library of its own and not as Requires.private, which would ask users of the shared library for libcurl's headers, and users of
    # the static one for everything a static libcurl needs.
    set(pkgconfig_curl "-lcurl")
    foreach(target undertext_objects undertext undertext_static)
      target_link_libraries(${target} PRIVATE CURL::libcurl)
    endforeach()
  else()
    undertext_without(endpoint "libcurl is not installed: endpoint_summariser() will answer `unsupported`")
  endif()
endif()
set_source_files_properties(src/endpoint/http.cpp PROPERTIES COMPILE_DEFINITIONS UNDERTEXT_HAVE_CURL=${UNDERTEXT_HAVE_CURL})
