// What belongs together stays together: calls and results of every kind, parallel calls, reasoning and the calls that follow from it. On random
// conversations of every dialect, edited by every operation, no strategy splits such a unit, and no request shows half of one. What a unit is, is
// found here the slow way, from the public blocks alone.
//
//     SEED=7 UNDERTEXT_UNIT_CONVERSATIONS=20000 undertext_units_test
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/compression.hpp>
#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "dialect/random_request.hpp"
#include "history/random_conversation.hpp"

namespace undertext {
namespace {

using Kind = ContentBlock::Kind;

struct Said {
  std::uint64_t ordinal = 0;
  Role role = Role::user;
  std::set<std::string> calls, results;
  bool reasons = false;
};

std::vector<Said> read(const View& view) {
  std::vector<Said> all;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    Said said{view.ordinal(i).value, view[i].role(), {}, {}, false};
    for (const ContentBlock& block : read_blocks(view[i])) {
      if (block.kind == Kind::call && !block.call_id.empty()) said.calls.insert(block.call_id);
      if (block.kind == Kind::result && !block.call_id.empty()) said.results.insert(block.call_id);
      if (block.kind == Kind::reasoning && said.role == Role::assistant) said.reasons = true;
    }
    // What is called and answered within one message cannot be split.
    for (auto id = said.results.begin(); id != said.results.end();)
      id = said.calls.erase(*id) > 0 ? said.results.erase(id) : std::next(id);
    all.push_back(std::move(said));
  }
  return all;
}

// The ids of calls that have a result in the view, and for each message that reasons the messages with the calls that follow from it.
struct Units {
  std::set<std::string> paired;
  std::map<std::uint64_t, std::set<std::uint64_t>> reasoned;  // ordinals

  explicit Units(const std::vector<Said>& view) {
    std::set<std::string> called;
    for (const Said& said : view) called.insert(said.calls.begin(), said.calls.end());
    for (const Said& said : view)
      for (const std::string& id : said.results)
        if (called.count(id) > 0) paired.insert(id);
    const Said* thinker = nullptr;
    for (const Said& said : view) {
      if (said.role == Role::system) continue;
      if (said.role != Role::assistant) thinker = nullptr;
      if (said.reasons) thinker = &said;
      if (thinker != nullptr && thinker != &said && !said.calls.empty()) reasoned[thinker->ordinal].insert(said.ordinal);
    }
  }
};

void expect_whole(const Units& before, const std::vector<Said>& after) {
  std::set<std::string> calls, results;
  std::set<std::uint64_t> ordinals;
  for (const Said& said : after) {
    calls.insert(said.calls.begin(), said.calls.end());
    results.insert(said.results.begin(), said.results.end());
    ordinals.insert(said.ordinal);
  }
  for (const std::string& id : before.paired) EXPECT_EQ(calls.count(id), results.count(id)) << "call " << id;
  for (const auto& [reasoning, followers] : before.reasoned)
    for (const std::uint64_t call : followers)
      EXPECT_EQ(ordinals.count(reasoning), ordinals.count(call)) << "reasoning " << reasoning << ", call " << call;
}

std::vector<std::pair<std::string, StrategyPtr>> strategies() {
  const StrategyPtr clear = clear_tool_results({.keep = 1});
  return {{"none", no_strategy()},
          {"keep_recent 0", keep_recent(0)},
          {"keep_recent 3", keep_recent(3)},
          {"keep_system_and_recent 2", keep_system_and_recent(2)},
          {"sliding_window", sliding_window()},
          {"clear", clear},
          {"supersede", supersede()},
          {"dedupe", dedupe()},
          {"default", default_strategy()},
          {"digest", smart_summary({.keep = 2})},
          {"clear, digest, window", pipeline({clear, smart_summary(), sliding_window()})}};
}

// The values of one member in all objects of a list, for objects whose type passes.
template <class Is>
std::vector<std::string> ids_in(const JsonValue& list, std::string_view member, Is is) {
  std::vector<std::string> ids;
  for (const JsonValue item : list.elements()) {
    const std::optional<JsonValue> type = item.find("type"), id = item.find(member);
    if (type && id && type->is(JsonType::string) && id->is(JsonType::string) && is(type->string())) ids.push_back(id->string());
  }
  return ids;
}

using Ids = std::multiset<std::string>;

std::string string_in(const JsonValue& object, std::string_view member) {
  const std::optional<JsonValue> value = object.find(member);
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

// The objects of a list; none where the member is no list.
std::vector<JsonValue> objects_in(const JsonValue& object, std::string_view member) {
  std::vector<JsonValue> objects;
  const std::optional<JsonValue> list = object.find(member);
  if (!list || !list->is(JsonType::array)) return objects;
  for (const JsonValue element : list->elements())
    if (element.is(JsonType::object)) objects.push_back(element);
  return objects;
}

// Each of these takes calls and results in turns: what a turn calls is answered before the next one, and by nobody else.
class Answers {
 public:
  explicit Answers(const std::string& json) : json_(json) {}
  ~Answers() { expect_none_open(); }
  void call(const std::string& id) { open_.insert(id); }
  void answer(const std::string& id) {
    const auto found = open_.find(id);
    if (found == open_.end()) {
      ADD_FAILURE() << "nobody calls " << id << ": " << json_;
    } else {
      open_.erase(found);
    }
  }
  void expect_none_open() {
    EXPECT_TRUE(open_.empty()) << "nobody answers " << (open_.empty() ? "" : *open_.begin()) << ": " << json_;
    open_.clear();
  }

 private:
  const std::string& json_;
  Ids open_;
};

void expect_whole_chat(const std::string& json, const JsonValue& root) {
  Answers answers(json);
  for (const JsonValue& message : objects_in(root, "messages")) {
    if (string_in(message, "role") == "tool") {
      answers.answer(string_in(message, "tool_call_id"));
      continue;
    }
    answers.expect_none_open();
    for (const JsonValue& call : objects_in(message, "tool_calls")) answers.call(string_in(call, "id"));
  }
}

// Messages of one role in a row are one turn.
void expect_whole_anthropic(const std::string& json, const JsonValue& root) {
  Answers answers(json);
  std::string last;
  for (const JsonValue& message : objects_in(root, "messages")) {
    const std::string role = string_in(message, "role");
    if (role == "assistant" && last != role) answers.expect_none_open();
    last = role;
    for (const JsonValue& part : objects_in(message, "content")) {
      if (string_in(part, "type") == "tool_result") answers.answer(string_in(part, "tool_use_id"));
      if (string_in(part, "type") == "tool_use") answers.call(string_in(part, "id"));
    }
  }
}

// Gemini may leave out ids; then names tell.
void expect_whole_gemini(const std::string& json, const JsonValue& root) {
  Answers answers(json);
  std::string last;
  for (const JsonValue& content : objects_in(root, "contents")) {
    const std::string role = string_in(content, "role");
    if (role == "model" && last != role) answers.expect_none_open();
    last = role;
    for (const JsonValue& part : objects_in(content, "parts")) {
      if (const std::optional<JsonValue> response = part.find("functionResponse")) answers.answer(string_in(*response, "name"));
      if (const std::optional<JsonValue> call = part.find("functionCall")) answers.call(string_in(*call, "name"));
    }
  }
}

// A request of the Responses API, read as plainly as can be.
void expect_whole_responses(const std::string& json, const JsonText& text) {
  const JsonValue input = *text.root().find("input");
  std::set<std::string> called, answered;
  for (const JsonValue item : input.elements())
    if (const std::optional<JsonValue> async = item.find("async"); async && async->boolean())
      answered.insert(item.find("call_id")->string());
  for (const std::string& id : ids_in(input, "call_id", [](const std::string& type) { return type.ends_with("_call"); }))
    called.insert(id);
  for (const std::string& id : ids_in(input, "call_id", [](const std::string& type) { return type.ends_with("_output"); }))
    answered.insert(id);
  for (const std::string& id : ids_in(input, "id", [](const std::string& type) { return type == "local_shell_call_output"; }))
    answered.insert(id);
  EXPECT_EQ(called, answered) << json;
  bool follows = false;
  std::vector<JsonValue> items;
  for (const JsonValue item : input.elements()) items.push_back(item);
  for (std::size_t i = items.size(); i-- > 0;) {
    const std::optional<JsonValue> type = items[i].find("type"), role = items[i].find("role");
    const std::string kind = type ? type->string() : "message";
    EXPECT_TRUE(kind != "reasoning" || follows) << json;
    follows = kind == "reasoning" ||
              (role ? role->string_is("assistant") : kind.ends_with("_call") || kind == "item_reference" || kind == "compaction");
  }
}

void expect_whole_request(Dialect dialect, const std::string& json) {
  const JsonText text = JsonText::parse(json, {.depth = 512}).value();
  switch (dialect) {
    case Dialect::openai_chat: return expect_whole_chat(json, text.root());
    case Dialect::openai_responses: return expect_whole_responses(json, text);
    case Dialect::anthropic: return expect_whole_anthropic(json, text.root());
    case Dialect::gemini: return expect_whole_gemini(json, text.root());
  }
}

// As repaired, for every dialect.
void expect_whole_requests(const View& view) {
  for (const std::string_view name : {"openai_chat", "openai_responses", "anthropic", "gemini"}) {
    SCOPED_TRACE(name);
    const Profile profile = find_profile(name).value();
    if (const Result<Rendering> sent = render(view, profile)) expect_whole_request(profile.dialect, sent->json);
  }
}

TEST(Units, NoStrategyAndNoRequestSplitsOne) {
  const char* const seed = std::getenv("SEED");
  const char* const many = std::getenv("UNDERTEXT_UNIT_CONVERSATIONS");
  const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
  const std::uint64_t count = many != nullptr ? std::strtoull(many, nullptr, 10) : 400;
  Aim aim;
  aim.count_tokens = test_tokens;
  aim.count_text = [](std::string_view text) { return text.size() / 4; };
  for (std::uint64_t s = first; s < first + count; ++s) {
    History history = RandomRequest(s).edited(static_cast<Dialect>(s % dialect_count));
    RandomConversation more(s, {.turns_max = 2, .edits_max = 4});
    for (std::uint64_t edits = s % 4; edits > 0; --edits) history = more.edited(history);
    const std::vector<Said> before = read(history.view());
    const Units units(before);
    for (const auto& [name, strategy] : strategies()) {
      SCOPED_TRACE("SEED=" + std::to_string(s) + " UNDERTEXT_UNIT_CONVERSATIONS=1 " + name);
      aim.tokens_max = history.stats().tokens / 2;
      Result<Plan> plan = strategy->plan(history, aim);
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::cannot_fit) << plan.error().message;
        aim.tokens_max.reset();
        if (!strategy->needs_tokens_max()) plan = strategy->plan(history, aim);
      }
      if (!plan || plan->replacements.empty()) continue;
      const History after = RandomConversation::applied(history, op::ApplyPlan{*plan});
      expect_whole(units, read(after.view()));
      expect_whole_requests(after.view());
      if (testing::Test::HasFailure()) return;
    }
    SCOPED_TRACE("SEED=" + std::to_string(s) + " UNDERTEXT_UNIT_CONVERSATIONS=1");
    expect_whole_requests(history.view());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace undertext
