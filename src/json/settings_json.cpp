#include "json/settings_json.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <undertext/dialect.hpp>
#include <undertext/embeddings.hpp>

#include "base/json_text.hpp"
#include "json/fields.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

namespace {

void read_embeddings(Fields& fields, Rerank& rerank) {
  EmbeddingsSettings settings;
  const auto read = [&](Fields& inner) {
    inner.need("baseUrl", settings.base_url, "Such as the provider's, up to and with its version.");
    inner.need("model", settings.model, "The model to ask.");
    inner.take("keyEnv", settings.key_variable, "The environment variable that holds the key.");
    inner.take("keyFile", settings.key_file, "A file that holds the key.");
    std::uint64_t timeout_ms = settings.timeout_ms;
    inner.take("timeoutMs", timeout_ms, "Of one search. Without an answer the words alone decide.");
    if (timeout_ms == 0 || timeout_ms > 600'000) inner.fail("timeoutMs", "is from 1 to 600000");
    settings.timeout_ms = static_cast<std::uint32_t>(std::min<std::uint64_t>(timeout_ms, 600'000));
    if (inner.describes() || settings.base_url.empty() || settings.model.empty()) return;
    Result<Rerank> made = embeddings_rerank(settings);
    if (made)
      rerank = std::move(*made);
    else
      inner.fail("baseUrl", "cannot be used: " + made.error().message);
  };
  fields.take_object("embeddings", read,
                     {"An OpenAI-compatible endpoint whose embeddings rank what a recall finds.",
                      "EmbeddingsSettings"});
}

void read_fields(Fields& fields, DoorSettings& door) {
  Settings& settings = door.settings;
  fields.take("model", settings.model,
              "The model that the conversation is for. Tokenizer, costs, profile and window follow "
              "from it where they are not set.");
  fields.take("tokenizer", settings.tokenizer,
              "`estimate`, `o200k_base`, `cl100k_base`, a model's name or a path.");
  fields.take("costs", settings.costs, "What counts beside text: a name of docs/tokens.md.");
  fields.take("profile", settings.profile, {"What the provider accepts.", "ProfileName|string"});
  fields.take("window", settings.window, "Of budgets that name none.");
  if (!settings.profile.empty() && !find_profile(settings.profile))
    fields.fail("profile", "\"" + clipped(settings.profile) + "\" is unknown");
  fields.take("tokenLimit", settings.token_limit,
              "An event is sent when the view grows beyond it.");
  fields.take("pairs", settings.pairs, "Of operations that do not say.");
  fields.take("project", settings.project,
              "What the conversation belongs to, such as a folder. `undertext mcp` looks for it.");
  fields.take(
      "contextTools", settings.context_tools,
      "The model has context_search and context_expand: summaries and stubs say how to use them.");
  const auto read_limits = [&](Fields& limits) {
    limits.take("messageBytes", settings.limits.message.message_bytes, "Of a message.");
    limits.take("lineBytes", door.line_bytes, "Of a line of `undertext exec`.");
  };
  fields.take_object("limits", read_limits, {"What is too_large.", "SizeLimits"});
  read_summarisers(fields, settings.summarisers);
  read_embeddings(fields, settings.rerank);
  const auto read_compression = [&](Fields& compression) {
    CompressionConfig& config = settings.compression;
    compression.take("enabled", config.enabled, "Compress without being asked.");
    compression.take(
        "threshold", config.threshold,
        "Above so many tokens. Default: tokenLimit, else three quarters of the window.");
    compression.take("targetTokens", config.target_tokens,
                     "What to come down to. Default: three quarters of the threshold.");
    read_strategy(compression, "strategy", settings, config.strategy);
    compression.take(
        "headroomTurns", config.headroom_turns,
        "Leaves room for so many more turns, at the rate at which the conversation grew of late.");
    std::optional<SurvivalPolicy> survival;
    read_survival(compression, survival);
    if (survival) config.survival = *survival;
  };
  fields.take_object("compressionConfig", read_compression, "Automatic compression.");
}

}  // namespace

Result<DoorSettings> read_settings(std::string_view json, Settings own) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return std::move(text.error());
  const JsonValue root = text->root();
  if (!root.is(JsonType::object))
    return Error{ErrorCode::invalid_argument, "the settings must be a JSON object"};

  DoorSettings door{.settings = std::move(own)};
  Reading reading;
  Fields fields(root, "the settings", reading);
  read_fields(fields, door);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return door;
}

void describe_settings(Shapes& shapes) {
  Shape shape{.name = "Settings",
              .text = "The settings of a conversation, as `--config` takes them."};
  Reading reading;
  Fields fields(shape, shapes, reading);
  DoorSettings door;
  read_fields(fields, door);
  shapes.add(std::move(shape));
}

}  // namespace undertext
