// Marks what the shared library shows to its users; everything else stays hidden.
#pragma once

#if defined(_WIN32)
#  if defined(UNDERTEXT_BUILDING_SHARED)
#    define UNDERTEXT_API __declspec(dllexport)
#  else
#    define UNDERTEXT_API
#  endif
#else
#  define UNDERTEXT_API __attribute__((visibility("default")))
#endif
