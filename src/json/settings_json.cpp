#include "json/settings_json.hpp"

#include <optional>
#include <utility>

#include "base/json_text.hpp"
#include "json/fields.hpp"

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
  // Only whether it is on is looked at: what else it says belongs to strategies that this build does not have.
  RawObject compression;
  fields.take("compressionConfig", compression);
  fields.done();
  if (reading.failed()) return reading.take_error();

  if (!compression.json.empty()) {
    const std::optional<JsonValue> enabled = root.find("compressionConfig")->find("enabled");
    if (enabled && !enabled->is(JsonType::boolean)) {
      return Error{ErrorCode::invalid_argument, "compressionConfig.enabled must be true or false", "enabled",
                   "compressionConfig.enabled"};
    }
    if (enabled && enabled->boolean()) {
      return Error{ErrorCode::unsupported, "compression strategies are not part of this version", "enabled",
                   "compressionConfig.enabled"};
    }
  }
  return door;
}

}  // namespace undertext
