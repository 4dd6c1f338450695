#include <undertext/identity.hpp>

#include <algorithm>

#include "base/json_string.hpp"
#include "message/canonical_json.hpp"
#include "message/read_fields.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

bool names(const std::vector<std::string>& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& each) { return each == word; });
}

class CanonicalMessage {
 public:
  CanonicalMessage(TextDigest& digest, const VolatileParts& parts) : json_(digest), parts_(parts) {}

  void add(const Turn& turn) {
    json_.add_text(turn.is_developer ? "developer" : name(turn.role));
    json_.add_body(is_result_of_call(turn) ? std::string_view() : turn.name);
    for (const Block& block : turn.blocks) {
      if (turn.role == Role::system && is_volatile_text(block)) continue;
      add(block);
    }
  }

 private:
  // Known by the call's id. Some clients repeat the name of the tool.
  static bool is_result_of_call(const Turn& turn) {
    return turn.role == Role::tool &&
           std::any_of(turn.blocks.begin(), turn.blocks.end(), [](const Block& block) {
             return block.kind == BlockKind::result && !id_of(block).empty();
           });
  }

  bool is_volatile_text(const Block& block) const {
    return block.kind == BlockKind::text &&
           std::any_of(parts_.system_texts.begin(), parts_.system_texts.end(),
                       [&](const std::string& begin) { return block.text.starts_with(begin); });
  }

  void add(const Block& block) {
    switch (block.kind) {
      case BlockKind::text: return add_said('x', block.text);
      case BlockKind::refusal: return add_said('r', block.text);
      case BlockKind::media: return add_media(block);
      case BlockKind::call: return has_own_form(block) ? add_item(block) : add_call(block);
      case BlockKind::result: return has_own_form(block) ? add_item(block) : add_result(block);
      case BlockKind::reasoning: return add_reasoning(block);
      case BlockKind::compaction:
      case BlockKind::control:
      case BlockKind::opaque: return add_item(block);
    }
  }

  // A text that is empty says nothing.
  void add_said(char mark, std::string_view body) {
    if (body.empty()) return;
    json_.add_mark(mark);
    json_.add_body(body);
  }

  // What people put beside an image or a file, such as the part of a video that counts, is meant.
  void add_media(const Block& block) {
    add(block.media);
    if (block.has_unknown && !block.raw.empty()) add_item(block);
  }

  void add(const Media& media) {
    json_.add_mark('m');
    json_.add_text(name(media.kind));
    json_.add_text(name(media.source));
    media.source == MediaSource::base64 ? add_base64(media.data) : json_.add_body(media.data);
    const std::string_view detail = media.detail == "auto" ? std::string_view() : media.detail;
    for (const std::string_view body : {media.mime, detail, media.filename}) json_.add_body(body);
  }

  // Some SDKs write the bytes that they were given in the alphabet of URLs, or without padding.
  void add_base64(std::string_view body) {
    if (body.size() % 4 == 0 && body.find_first_of("-_\\") == std::string_view::npos)
      return json_.add_text(body);
    std::string data;
    append_json_decoded(data, body, LoneSurrogates::keep);
    std::ranges::replace(data, '-', '+');
    std::ranges::replace(data, '_', '/');
    if (data.size() % 4 > 1) data.append(4 - data.size() % 4, '=');
    json_.add_text(data);
  }

  // What only its own bytes can say.
  static bool has_own_form(const Block& block) {
    return (block.has_own_form || block.is_server || block.is_complete) && !block.raw.empty();
  }

  void add_item(const Block& block) {
    json_.add_mark('i');
    const Result<JsonText> item = JsonText::parse(block.raw, {.depth = 4096});
    if (!item) return json_.add_text(block.raw);
    // A reference is nothing but its id, and may leave out its type.
    if (block.type == "item_reference")
      return body_of(item->root(), "type").empty()
                 ? json_.add_value_or_held(R"({"type":"item_reference","id":)" +
                                           std::string(item->root().find("id")->raw()) + '}')
                 : json_.add_value(item->root());
    // Of a local shell's output and the like, the item's own id is that of the call.
    if (answers_or_calls(block) && item->root().is(JsonType::object) &&
        decoded(body_of(item->root(), "id")) == block.id)
      json_.add_text(id_of(block));
    json_.add_object_without(item->root(), parts_.members);
  }

  static bool answers_or_calls(const Block& block) {
    return (block.kind == BlockKind::call || block.kind == BlockKind::result) && !block.id.empty();
  }

  static std::string_view id_of(const Block& block) {
    return block.has_own_id && !is_made_id(block.id) ? block.id : std::string_view();
  }

  void add_call(const Block& block) {
    json_.add_mark('c');
    json_.add_text(id_of(block));
    json_.add_text(block.name);
    const bool has_none = block.json.empty() || block.json == R"("")" || block.json == "null";
    if (has_none && !block.is_custom) return json_.add_value_or_held("{}");
    if (block.json.empty()) return json_.add_text("");
    json_.add_value_or_held(block.json);
  }

  void add_result(const Block& block) {
    json_.add_mark(block.is_error ? 'E' : 'R');
    json_.add_text(id_of(block));
    if (block.is_list) {
      for (const Block& inner : block.inner) add(inner);
    } else if (!block.json.empty()) {
      json_.add_mark('j');
      json_.add_value_or_held(block.json);
    } else {
      add_said('x', block.text);
    }
    json_.add_mark('.');
  }

  void add_reasoning(const Block& block) {
    if (!is_reasoning(block) || names(parts_.members, block.type)) return;
    json_.add_mark('t');
    if (block.text.empty() && block.signature.empty()) return add_unreadable(block);
    json_.add_body(block.text);
    json_.add_body(block.signature);
  }

  // Only the provider knows what it is, and knows it by its id.
  void add_unreadable(const Block& block) {
    if (block.raw.empty()) return;
    const Result<JsonText> item = JsonText::parse(block.raw, {.depth = 4096});
    if (!item || !item->root().is(JsonType::object)) return json_.add_value_or_held(block.raw);
    json_.add_body(body_of(item->root(), "id"));
    json_.add_object_without(item->root(), parts_.members);
  }

  CanonicalJson json_;
  const VolatileParts& parts_;
};

}  // namespace

const VolatileParts& VolatileParts::common() {
  static const VolatileParts parts{{
                                       "annotations",
                                       "cache_control",
                                       "citations",
                                       "id",
                                       "internal_chat_message_metadata_passthrough",
                                       "logprobs",
                                       "phase",
                                       "prompt_cache_breakpoint",
                                       "status",
                                       "usage",
                                   },
                                   {}};
  return parts;
}

Identity identity(const Message& message, const VolatileParts& volatile_parts) {
  TextDigest digest;
  if (volatile_parts.nothing) {
    digest.add(message.json());
  } else {
    const MessageReading reading(message);
    CanonicalMessage(digest, volatile_parts).add(reading.turn());
  }
  const auto [high, low] = digest.finish();
  return {high, low};
}

}  // namespace undertext
