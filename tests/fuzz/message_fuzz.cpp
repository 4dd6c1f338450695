// Any bytes, as a message. What is accepted must come back as it was, whatever is asked of it; and
// JSON must be to us what it is to simdjson, but for what we refuse or keep on purpose.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#ifdef UNDERTEXT_HAVE_SIMDJSON
#  include <simdjson.h>
#endif

#include <undertext/blocks.hpp>
#include <undertext/message.hpp>

#include "base/json_text.hpp"
#include "message/edit.hpp"
#include "require.hpp"

namespace {

using namespace undertext;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\n\r";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  return text.substr(0, text.find_last_not_of(space) + 1);
}

void read_everything(const Message& message) {
  const std::string text = message.text();
  for (std::size_t at = 0; at < text.size(); at += 1 + text.size() / 4)
    require(message.text_contains(std::string_view(text).substr(at, 5)),
            "a message contains each piece of its text");
  require(message.text_contains("zq") == (text.find("zq") != std::string::npos),
          "a search agrees with the text");
  require(message.has_tool_links() == !message.tool_links().empty(),
          "has_tool_links() tells of tool_links()");
  static_cast<void>(read_blocks(message));
  static_cast<void>(message.id());
  static_cast<void>(message.metadata_json());
  static_cast<void>(message.timestamp_ms());
}

void edit_everything(const Message& message) {
  const std::string text = message.text();
  if (const Result<Message> cut = truncate_text(
          message, {.chars_max = 2, .keep = TruncateText::Keep::both, .marker = "\n"}, {}))
    read_everything(*cut);
  if (const Result<Message> replaced = replace_text(message, {"e", "\"é"}, {});
      replaced && text.find('e') == std::string::npos)
    require(replaced->json() == message.json(), "nothing found is nothing changed");
  if (const Result<Message> tagged = set_metadata(message, {R"({"k":[1]})"}, {}))
    require(tagged->text() == text, "metadata is not text");
  const std::uint64_t at[] = {1};
  if (const Result<std::vector<Message>> pieces = split_message(message, at, {})) {
    const Result<Message> whole = merge_messages(*pieces, "", {});
    require(static_cast<bool>(whole), "what was split can be merged");
    require(whole->text() == text, "what was split and merged is the same text");
    require(whole->tool_links() == message.tool_links(),
            "what was split and merged has the same calls and results");
  }
}

#ifdef UNDERTEXT_HAVE_SIMDJSON

void compare(const JsonValue& ours, const simdjson::dom::element& theirs) {
  using simdjson::dom::element_type;
  switch (theirs.type()) {
    case element_type::OBJECT: {
      require(ours.is(JsonType::object), "both see an object");
      auto members = ours.members();
      auto at = members.begin();
      for (const auto member : simdjson::dom::object(theirs)) {
        require(at != members.end() && (*at).key.string_is(member.key), "both see the same key");
        compare((*at).value, member.value);
        ++at;
      }
      return require(at == members.end(), "both see as many members");
    }
    case element_type::ARRAY: {
      require(ours.is(JsonType::array), "both see an array");
      auto elements = ours.elements();
      auto at = elements.begin();
      for (const simdjson::dom::element element : simdjson::dom::array(theirs)) {
        require(at != elements.end(), "both see as many elements");
        compare(*at, element);
        ++at;
      }
      return require(at == elements.end(), "both see as many elements");
    }
    case element_type::STRING:
      return require(ours.string() == std::string_view(theirs), "both see the same string");
    case element_type::INT64:
      return require(ours.int64() == std::int64_t(theirs), "both see the same integer");
    case element_type::UINT64:
      return require(ours.uint64_saturated() == std::uint64_t(theirs), "both see the same count");
    case element_type::DOUBLE: return require(ours.is(JsonType::number), "both see a number");
    case element_type::BOOL:
      return require(ours.boolean() == bool(theirs), "both see the same boolean");
    default: return require(ours.is(JsonType::null), "both see null");
  }
}

void compare_with_simdjson(std::string_view text) {
  static simdjson::dom::parser parser;
  simdjson::dom::element theirs;
  const simdjson::error_code error = parser.parse(text.data(), text.size()).get(theirs);
  const Result<JsonText> ours = JsonText::parse(text, {});
  if (ours && !error) return compare(ours->root(), theirs);
  if (ours) {
    // Ours on purpose: numbers of any size, and escapes of lone surrogates.
    const bool number = error == simdjson::NUMBER_ERROR;
    const bool surrogate =
        error == simdjson::STRING_ERROR && text.find("\\u") != std::string_view::npos;
    return require(number || surrogate, "what we accept, simdjson accepts");
  }
  if (error || text.starts_with("\xef\xbb\xbf")) return;
  const std::string& reason = ours.error().message;
  require(reason.find("twice") != std::string::npos ||
              reason.find("nested deeper") != std::string::npos,
          "what simdjson accepts, we accept but for repeated keys and depth");
}

#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
#ifdef UNDERTEXT_HAVE_SIMDJSON
  compare_with_simdjson(input);
#endif
  const Result<Message> message = Message::parse(input);
  if (!message) {
    const Error& error = message.error();
    require(error.code == ErrorCode::invalid_argument && !error.message.empty(),
            "an error says what is wrong");
    require(!error.byte_offset || *error.byte_offset <= input.size(),
            "an error's byte is in the text or at its end");
    return 0;
  }
  require(message->json() == trimmed(input), "a message comes back as it was given");
  const Result<Message> again = Message::parse(message->json());
  require(again && *again == *message && again->role() == message->role(),
          "what was accepted is accepted again");
  read_everything(*message);
  edit_everything(*message);
  return 0;
}
