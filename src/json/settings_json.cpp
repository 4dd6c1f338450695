#include "json/settings_json.hpp"

#include <optional>
#include <string>
#include <utility>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "json/fields.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

Result<DoorSettings> read_settings(std::string_view json, Settings own) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return std::move(text.error());
  const JsonValue root = text->root();
  if (!root.is(JsonType::object)) return Error{ErrorCode::invalid_argument, "the settings must be a JSON object"};

  DoorSettings door{.settings = std::move(own)};
  Reading reading;
  Fields fields(root, "the settings", reading);
  fields.take("model", door.settings.model);
  fields.take("tokenizer", door.settings.tokenizer);
  fields.take("costs", door.settings.costs);
  fields.take("profile", door.settings.profile);
  fields.take("window", door.settings.window);
  if (!door.settings.profile.empty() && !find_profile(door.settings.profile))
    fields.fail("profile", "\"" + clipped(door.settings.profile) + "\" is unknown");
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
    read_strategy(compression, "strategy", door.settings, config.strategy);
  });
  fields.done();
  if (reading.failed()) return reading.take_error();

  return door;
}

}  // namespace undertext
