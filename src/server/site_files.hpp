// The site of the manual, as scripts/site makes it, to be served at /docs/.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <undertext/error.hpp>

namespace undertext {

struct SiteFile {
  std::string bytes;
  // its Content-Security-Policy: of a page, with the digests of the scripts that stand in it
  std::string policy;
};

// All files below a folder, read once: what is served later cannot lead out of it.
class SiteFiles {
 public:
  SiteFiles() = default;  // none

  // not_found: no site is there. too_large: it has more than 128 MiB. unavailable: a file cannot be
  // read.
  static Result<SiteFiles> read(const std::string& folder);

  // `path` as in "concepts.html"; null: there is none.
  const SiteFile* find(std::string_view path) const;

 private:
  std::map<std::string, SiteFile, std::less<>> files_;
};

}  // namespace undertext
