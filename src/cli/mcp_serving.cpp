#include "cli/mcp_serving.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/line_reader.hpp"
#include "json/kept_settings.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t mcp_line_bytes_max = 1 << 20;
constexpr std::size_t kept_open_max = 32;

int mcp_failed(const char* what) {
  std::fprintf(stderr, "undertext: %s: %s\n", what, std::generic_category().message(errno).c_str());
  return 1;
}

}  // namespace

std::shared_ptr<Conversation> KeptOpenConversations::get(const std::string& id) {
  const auto found = kept_.find(id);
  if (found != kept_.end()) {
    found->second.used = ++uses_;
    return found->second.conversation;
  }
  auto opened = std::make_shared<Conversation>(
      open_kept(
          store_, id,
          {.options = {.make = OpenOptions::Make::never, .cache_bytes = std::uint64_t{8} << 20}})
          .value());
  if (kept_.size() >= kept_open_max) {
    const auto is_older = [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    };
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), is_older));
  }
  kept_.insert_or_assign(id, Kept{opened, ++uses_});
  return opened;
}

int serve_mcp(const McpOptions& options, int in, int out) {
  // Without heap, for when there is none left.
  static constexpr std::string_view no_memory =
      R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"out of memory"}})"
      "\n";
  static constexpr std::string_view too_long =
      R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"a message has at most 1048576 bytes"}})"
      "\n";
  LineReader reader(in, mcp_line_bytes_max);
  for (;;) {
    std::string text;
    switch (reader.next()) {
      case LineReader::Got::end: return 0;
      case LineReader::Got::failed: return mcp_failed("cannot read the input");
      case LineReader::Got::too_long: text = too_long; break;
      case LineReader::Got::line:
        try {
          for (const std::string& message : answer_mcp(reader.line(), options).messages)
            (text += message) += '\n';
        } catch (const std::bad_alloc&) {
          text = no_memory;
        }
        break;
    }
    if (!write_all(out, text)) return mcp_failed("cannot write the answer");
  }
}

}  // namespace undertext
