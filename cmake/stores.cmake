# What lasts. Digests come from OpenSSL's libcrypto.

find_package(OpenSSL REQUIRED COMPONENTS Crypto)
set(pkgconfig_stores "-lcrypto")
foreach(target undertext_objects undertext undertext_static)
  target_link_libraries(${target} PRIVATE OpenSSL::Crypto)
endforeach()
