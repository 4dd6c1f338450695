// The files of the inspector, compiled in. cmake/embed_files.py writes the source.
#pragma once

#include <string_view>
#include <vector>

namespace undertext {

struct InspectorFile {
  std::string_view path;  // such as "/index.html"
  std::string_view bytes;
  std::string_view gzip;  // the same, compressed; empty where that is not smaller
};

std::vector<InspectorFile> inspector_files();  // none where the page was not built

}  // namespace undertext
