#include "json/settings_json.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/json_text.hpp"
#include "json/fields.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

Result<DoorSettings> read_settings(std::string_view json) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return std::move(text.error());
  const JsonValue root = text->root();
  if (!root.is(JsonType::object)) return Error{ErrorCode::invalid_argument, "the settings must be a JSON object"};

  DoorSettings door;
  Reading reading;
  Fields fields(root, "the settings", reading);
  fields.take("tokenizer", door.settings.tokenizer);
  fields.take("tokenLimit", door.settings.token_limit);
  fields.take("pairs", door.settings.pairs);
  fields.take_object("limits", [&](Fields& limits) {
    limits.take("messageBytes", door.settings.limits.message.message_bytes);
    limits.take("lineBytes", door.line_bytes);
  });
  read_summarisers(fields, door.settings.summarisers);
  fields.take_object("compressionConfig", [&](Fields& compression) {
    CompressionConfig& config = door.settings.compression;
    compression.take("enabled", config.enabled);
    compression.take("threshold", config.threshold);
    compression.take("targetTokens", config.target_tokens);
    read_strategy(compression, "strategy", door.settings.summarisers, config.strategy);
  });
  fields.done();
  if (reading.failed()) return reading.take_error();

  return door;
}

Result<Conversation> open_as_stored(std::shared_ptr<Store> store, std::string_view id, const OpenOptions& options) {
  const Result<std::string> note = Conversation::stored_note(*store, id);
  const bool is_there = note || note.error().code != ErrorCode::not_found;
  if (!note && (is_there || options.make == OpenOptions::Make::never)) return note.error();
  DoorSettings door;
  if (note && !note->empty()) {
    Result<DoorSettings> read = read_settings(*note);
    if (!read) return read.error();
    door = std::move(*read);
  }
  if (const Result<std::string> tokenizer = Conversation::stored_tokenizer(*store, id)) door.settings.tokenizer = *tokenizer;
  return Conversation::open(std::move(store), id, std::move(door.settings), options);
}

}  // namespace undertext
