// The vectors of tests/dialect/vectors.json: what is imported, assembled, found, exported, and what
// an edit costs. Their neutral form is a sketch, so of imports the facts are compared, and a text
// alone is the same as a list of one text.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "dialect/request_draft.hpp"
#include "history/random_conversation.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

std::string minified(std::string_view json) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!inside && (c == ' ' || c == '\n')) continue;
    if (c == '"' && (i == 0 || json[i - 1] != '\\')) inside = !inside;
    out += c;
  }
  return out;
}

Dialect dialect_of(std::string_view api) {
  return api == "openai.chat"          ? Dialect::openai_chat
         : api == "openai.responses"   ? Dialect::openai_responses
         : api == "anthropic.messages" ? Dialect::anthropic
                                       : Dialect::gemini;
}

Profile profile_for(Dialect dialect, const JsonValue& vector) {
  std::string json = R"({"dialect":")" + std::string(name(dialect)) + '"';
  if (const std::optional<JsonValue> given = vector.find("profile"))
    for (const JsonMember member : given->members())
      json += ',' + std::string(member.key.raw()) + ':' + std::string(member.value.raw());
  return Profile::parse(json + '}').value();
}

History with(const std::vector<Message>& messages) {
  return RandomConversation::applied(History(), op::Append{messages});
}

// "messages.2.content.1" and "messages[2]": the 2.
std::string place_in(std::string_view path) {
  std::string digits;
  for (const char c : path) {
    if (c >= '0' && c <= '9') {
      digits += c;
    } else if (!digits.empty()) {
      break;
    }
  }
  return digits;
}

std::string string_at(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

void expect_block(const JsonValue& part, const Block& block) {
  const std::string type = string_at(part, "type");
  const std::set<std::pair<std::string, BlockKind>> kinds = {
      {"text", BlockKind::text},           {"tool_call", BlockKind::call},
      {"tool_result", BlockKind::result},  {"media", BlockKind::media},
      {"reasoning", BlockKind::reasoning}, {"compaction", BlockKind::compaction},
      {"control", BlockKind::control}};
  EXPECT_TRUE(kinds.count({type, block.kind}) > 0) << type;
  if (type == "text") {
    EXPECT_EQ(decoded(block.text), string_at(part, "text"));
  }
  if (part.find("call_id")) {
    EXPECT_EQ(block.id, string_at(part, "call_id"));
  }
  if (part.find("name")) {
    EXPECT_EQ(block.name, string_at(part, "name"));
  }
  if (part.find("args_text")) {
    EXPECT_EQ(block.json, part.find("args_text")->raw());
  }
  if (const std::optional<JsonValue> args = part.find("args")) {
    EXPECT_EQ(minified(block.json), minified(args->raw()));
  }
  if (part.find("exec")) {
    EXPECT_EQ(block.is_server, string_at(part, "exec") == "server");
  }
  if (part.find("is_error")) {
    EXPECT_EQ(block.is_error, is_true(part, "is_error"));
  }
  if (part.find("mime")) {
    EXPECT_EQ(block.media.mime, string_at(part, "mime"));
  }
  if (part.find("detail")) {
    EXPECT_EQ(block.media.detail, string_at(part, "detail"));
  }
  if (const std::optional<JsonValue> source = part.find("source")) {
    EXPECT_EQ(block.media.data,
              source->find("id") ? string_at(*source, "id") : string_at(*source, "data"));
  }
  if (const std::optional<JsonValue> token = part.find("token");
      token && string_at(*token, "scheme") == "anthropic.signature") {
    EXPECT_EQ(block.signature, string_at(*token, "value"));
  }
  if (part.find("summary")) {
    EXPECT_EQ(decoded(block.text), string_at(part, "summary"));
  }
  if (part.find("cache")) {
    EXPECT_FALSE(block.cache.empty());
  }
  if (const std::optional<JsonValue> output = part.find("output"); output && !block.is_server) {
    if (string_at(part, "output_shape") == "string") {
      EXPECT_EQ(decoded(block.text), string_at(*output->elements().begin(), "text"));
    } else {
      ASSERT_EQ(block.inner.size(), output->count());
      std::size_t i = 0;
      for (const JsonValue inner : output->elements()) expect_block(inner, block.inner[i++]);
    }
  }
}

void check_import(const JsonValue& vector) {
  const Dialect dialect = dialect_of(string_at(vector, "api"));
  const std::string input(vector.find("input")->raw());
  const Imported imported = import_messages(dialect, input).value();
  JsonValue expected = *vector.find("expect");
  std::vector<JsonValue> messages;
  const bool has_instructions = expected.is(JsonType::object);
  const std::size_t top = has_instructions && !expected.find("instructions")->empty() ? 1 : 0;
  for (const JsonValue message :
       (has_instructions ? *expected.find("messages") : expected).elements())
    messages.push_back(message);
  ASSERT_EQ(imported.messages.size(), messages.size() + top);
  Arena arena;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Turn turn = read_stored(imported.messages[i + top], arena);
    EXPECT_TRUE(turn.is_raw_in(dialect));
    const std::string role = string_at(messages[i], "role");
    if (role != "control") {
      EXPECT_EQ(turn.is_developer ? "developer" : name(turn.role), role);
    }
    if (messages[i].find("name")) {
      EXPECT_EQ(turn.name, string_at(messages[i], "name"));
    }
    std::size_t part = 0;
    ASSERT_EQ(turn.blocks.size(), messages[i].find("parts")->count());
    for (const JsonValue one : messages[i].find("parts")->elements())
      expect_block(one, turn.blocks[part++]);
  }
  // And back, byte for byte.
  const std::string json =
      render(with(imported.messages).view(), default_profile(dialect), {.repair = false})
          .value()
          .json;
  const JsonValue root = vector.find("input")->is(JsonType::array)
                             ? *vector.find("input")
                             : *vector.find("input")->find("messages");
  for (const JsonValue element : root.elements()) {
    EXPECT_NE(json.find(element.raw()), std::string::npos) << json;
  }
}

void check_validate(const JsonValue& vector) {
  const Dialect dialect = dialect_of(string_at(vector, "api"));
  const Profile profile = profile_for(dialect, vector);
  const Imported imported = import_messages(dialect, vector.find("input")->raw()).value();
  const History history = with(imported.messages);
  RenderOptions options{.request = imported.rest};
  if (const std::optional<JsonValue> baseline = vector.find("baseline"))
    options.sent = with(import_messages(dialect, baseline->raw()).value().messages).view();
  std::multiset<std::string> expected, found;
  for (const JsonValue one : vector.find("expect")->elements()) {
    const std::string path = string_at(one, "path");
    expected.insert(string_at(one, "code") + " " + (path == "messages" ? "2" : place_in(path)));
  }
  for (const Finding& finding : validate(history.view(), profile, options).value())
    found.insert(std::string(finding.code) + " " + place_in(finding.place.path));
  // What else is wrong with the examples: they end where a model would answer with a prefill.
  found.erase("FIRST_NOT_USER 0");
  EXPECT_EQ(found, expected);
  const Rendering repaired = render(history.view(), profile, options).value();
  EXPECT_TRUE(validate_request(repaired.json, profile).value().empty()) << repaired.json;
}

void check_export(const JsonValue& vector) {
  const Dialect from = dialect_of(string_at(vector, "from")),
                to = dialect_of(string_at(vector, "to"));
  const Imported imported = import_messages(from, vector.find("input")->raw()).value();
  const Rendering rendering =
      render(with(imported.messages).view(), profile_for(to, vector)).value();
  std::string expected = minified(vector.find("expect")->find("body")->raw());
  for (const std::string text : {"S", "go"}) {  // a list of one text
    const std::string list = R"([{"type":"text","text":")" + text + R"("}])";
    for (std::size_t at = expected.find(list); at != std::string::npos; at = expected.find(list))
      expected.replace(at, list.size(), '"' + text + '"');
  }
  EXPECT_EQ(rendering.json, expected);
  std::multiset<std::string> losses, expected_losses;
  for (const Loss& loss : rendering.losses)
    losses.insert(std::string(loss.code) + " " + std::to_string(*loss.place.index));
  for (const JsonValue loss : vector.find("expect")->find("losses")->elements())
    expected_losses.insert(string_at(loss, "code") + " " + place_in(string_at(loss, "path")));
  EXPECT_EQ(losses, expected_losses);
}

void check_stream(const JsonValue& vector) {
  const Dialect dialect = dialect_of(string_at(vector, "api"));
  StreamAssembler stream(dialect);
  for (const JsonValue line : vector.find("input")->elements())
    EXPECT_TRUE(stream.feed(line.string().substr(6)));
  const StreamAssembler::Streamed streamed = stream.finish();
  const JsonValue expect = *vector.find("expect");
  std::string message = streamed.message;
  if (const std::size_t at = message.find(R"(,"content":null)"); at != std::string::npos)
    message.erase(at, 15);
  EXPECT_EQ(message, minified(expect.find("message")->raw()));
  EXPECT_EQ(streamed.finish_reason, string_at(expect, "finish_reason"));
  EXPECT_EQ(streamed.complete, is_true(expect, "complete"));
  EXPECT_EQ(streamed.usage_json.empty() ? "null" : streamed.usage_json,
            minified(expect.find("usage")->raw()));
  EXPECT_EQ(streamed.error_json.empty() ? "null" : streamed.error_json,
            minified(expect.find("error")->raw()));
  EXPECT_TRUE(import_messages(dialect, streamed.message));
}

void check_cache(const JsonValue& vector) {
  const JsonValue input = *vector.find("input"), expect = *vector.find("expect");
  const CacheRules rules = Profile::parse(R"({"dialect":"anthropic","cache":)" +
                                          std::string(vector.find("profile")->raw()) + '}')
                               .value()
                               .cache;
  EditCostInput given;
  std::uint64_t index = 0;
  for (const JsonValue block : input.find("blocks")->elements())
    if (index++ < *input.find("edit_at")->uint64_saturated())
      given.stable += *block.uint64_saturated();
  given.cached_before = *expect.find("cached_before")->uint64_saturated();
  given.removed = *input.find("removed")->uint64_saturated();
  given.inserted = *input.find("inserted")->uint64_saturated();
  for (const JsonValue one : input.find("breakpoints")->elements())
    given.breakpoints.push_back(*one.uint64_saturated());
  const EditCost cost = edit_cost(given, rules);
  EXPECT_EQ(cost.reusable, expect.find("reusable")->uint64_saturated());
  EXPECT_EQ(cost.invalidated, expect.find("invalidated")->uint64_saturated());
  EXPECT_EQ(cost.rewritten, expect.find("rewritten")->uint64_saturated());
  EXPECT_DOUBLE_EQ(cost.one_time, 46575.0);
  EXPECT_NEAR(cost.break_even_turns.value(), 4.68, 0.005);
}

TEST(DialectVectors, AllOfThem) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() /
                     "../../tests/dialect/vectors.json");
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string json = bytes.str();
  const Result<JsonText> text = JsonText::parse(json, {});
  ASSERT_TRUE(text) << text.error().message;
  for (const JsonValue vector : text->root().elements()) {
    SCOPED_TRACE(string_at(vector, "id") + " " + string_at(vector, "title"));
    const std::string kind = string_at(vector, "kind");
    if (kind == "import") {
      check_import(vector);
    } else if (kind == "validate") {
      check_validate(vector);
    } else if (kind == "export") {
      check_export(vector);
    } else if (kind == "stream") {
      check_stream(vector);
    } else {
      ASSERT_EQ(kind, "cache");
      check_cache(vector);
    }
  }
}

}  // namespace
}  // namespace undertext
