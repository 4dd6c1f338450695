#if UNDERTEXT_HAVE_SERVER

#  include "cli/one_token.hpp"

#  include <cerrno>
#  include <cstdlib>
#  include <cstring>
#  include <utility>

#  include "cli/desk.hpp"
#  include "server/tokens.hpp"

namespace undertext {

OneToken::OneToken(const std::string& name) {
  std::string folder = (std::filesystem::temp_directory_path() / "undertext-token-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    fail(ErrorCode::unavailable, "no folder for a token: " + std::string(std::strerror(errno)));
  folder_ = folder;
  Token token{.name = name,
              .digest = {},
              .tenant = "default",
              .rights = {true, true, true},
              .made_ms = now_ms()};
  secret_ = make_token(file(), std::move(token)).value();
}

OneToken::~OneToken() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace undertext

#endif
