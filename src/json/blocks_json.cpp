#include "json/blocks_json.hpp"

#include <utility>

#include <undertext/blocks.hpp>

#include "base/json_text.hpp"
#include "message/visit_blocks.hpp"

namespace undertext {
namespace {

class BlocksOut {
 public:
  explicit BlocksOut(std::string& out) : out_(out) {}

  void said_by(const Message& message) {
    const char* separator = "[";
    visit_blocks(message, [&](const ContentBlock& said) {
      out_ += std::exchange(separator, ",");
      block(said);
    });
    out_ += *separator == '[' ? "[]" : "]";
  }

 private:
  using Kind = ContentBlock::Kind;

  void list(const std::vector<ContentBlock>& blocks) {
    out_ += '[';
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i > 0) out_ += ',';
      block(blocks[i]);
    }
    out_ += ']';
  }

  void block(const ContentBlock& block) {
    out_ += R"({"kind":)";
    append_json_string(out_, name(block.kind));
    member("type", block.type);
    if (block.kind == Kind::text || !block.text.empty()) string("text", block.text);
    if (block.kind == Kind::media) media(block.media);
    member("callId", block.call_id);
    member("name", block.name);
    if (block.kind == Kind::call) (out_ += R"(,"arguments":)") += block.arguments_json;
    if (block.is_error) out_ += R"(,"isError":true)";
    if (block.by_provider) out_ += R"(,"byProvider":true)";
    if (block.kind == Kind::result || !block.blocks.empty()) {
      out_ += R"(,"blocks":)";
      list(block.blocks);
    }
    if (block.kind == Kind::opaque)
      (out_ += R"(,"json":)") += block.json.empty() ? "null" : block.json;
    out_ += '}';
  }

  void media(const MediaBlock& media) {
    string("media", name(media.kind));
    string("source", name(media.source));
    string("data", media.data);
    member("mime", media.mime);
    member("detail", media.detail);
    member("filename", media.filename);
  }

  void string(std::string_view key, std::string_view text) {
    ((out_ += ",\"") += key) += "\":";
    append_json_string(out_, text);
  }
  void member(std::string_view key, std::string_view text) {
    if (!text.empty()) string(key, text);
  }

  std::string& out_;
};

}  // namespace

void append_blocks(std::string& out, const Message& message) { BlocksOut(out).said_by(message); }

}  // namespace undertext
