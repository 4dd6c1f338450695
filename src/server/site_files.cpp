#include "server/site_files.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <openssl/evp.h>

#include "store/chain.hpp"

namespace undertext {
namespace {

constexpr std::size_t site_bytes_max = std::size_t{128} << 20;

std::string digest_base64(const Digest& digest) {
  std::string out(4 * ((digest.size() + 2) / 3) + 1, '\0');
  out.resize(static_cast<std::size_t>(EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(out.data()),
      reinterpret_cast<const unsigned char*>(digest.data()), static_cast<int>(digest.size()))));
  return out;
}

// The generator puts scripts of a line into its pages. The digest of each lets a browser run these,
// and no other.
std::string site_page_policy(std::string_view html) {
  std::string scripts = "script-src 'self'";
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string_view::npos;) {
    const std::size_t begin = html.find('>', at), end = html.find("</script>", at);
    if (begin == std::string_view::npos || end == std::string_view::npos || begin >= end) break;
    if (end > begin + 1)
      scripts += " 'sha256-" + digest_base64(sha256(html.substr(begin + 1, end - begin - 1))) + "'";
    at = end;
  }
  return "default-src 'none'; " + scripts +
         "; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src "
         "'self'; worker-src 'self'; "
         "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
}

}  // namespace

Result<SiteFiles> SiteFiles::read(const std::string& folder) {
  namespace fs = std::filesystem;
  SiteFiles site;
  std::size_t bytes = 0;
  std::error_code fault;
  fs::recursive_directory_iterator at(folder, fault), end;
  for (; !fault && at != end; at.increment(fault)) {
    // A link may lead out of the folder, and what is hidden, such as .git, is no page.
    if (at->path().filename().native().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(fault) || !at->is_regular_file(fault)) continue;
    std::ifstream in(at->path(), std::ios::binary);
    SiteFile file{.bytes = {std::istreambuf_iterator<char>(in), {}}, .policy = {}};
    if (in.bad() || !in.is_open())
      return Error{ErrorCode::unavailable, "cannot read " + at->path().string()};
    bytes += file.bytes.size();
    if (bytes > site_bytes_max)
      return Error{ErrorCode::too_large, "the site in " + folder + " has more than 128 MiB"};
    const std::string path = at->path().lexically_relative(folder).generic_string();
    file.policy = path.ends_with(".html") ? site_page_policy(file.bytes) : "default-src 'none'";
    site.files_.emplace(path, std::move(file));
  }
  if (fault || site.find("index.html") == nullptr)
    return Error{ErrorCode::not_found,
                 "there is no site in " + folder + "; scripts/site makes one in build/site/html"};
  return site;
}

const SiteFile* SiteFiles::find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace undertext
