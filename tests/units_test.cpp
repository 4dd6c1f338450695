// What belongs together stays together: calls and results of every kind, parallel calls, reasoning
// and the calls that follow from it. On random conversations of every dialect, edited by every
// operation of the table, no strategy splits such a unit, no more do `pairs` shrink and grow, and
// no request shows half of one. Operations that do literally what they say may split one. What a
// unit is, is found here the slow way, from the public blocks alone.
//
//     SEED=7 UNDERTEXT_UNIT_CONVERSATIONS=20000 undertext_units_test
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/client.hpp>
#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "dialect/random_request.hpp"
#include "history/operation_table.hpp"
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

// The ids of calls that have a result in the view and are called once, and for each message that
// reasons the messages with the calls that follow from it.
struct Units {
  std::set<std::string> paired;
  std::map<std::uint64_t, std::set<std::uint64_t>> reasoned;  // ordinals

  void forget(const Said& said) {
    for (const std::string& id : said.calls) paired.erase(id);
    for (const std::string& id : said.results) paired.erase(id);
  }

  explicit Units(const std::vector<Said>& view) {
    std::multiset<std::string> called, answered;
    // a result before its call; where the call has another one, it is nobody's
    std::set<std::string> early;
    for (const Said& said : view) {
      called.insert(said.calls.begin(), said.calls.end());
      answered.insert(said.results.begin(), said.results.end());
      for (const std::string& id : said.results)
        if (called.count(id) == 0) early.insert(id);
    }
    for (const std::string& id : answered)
      if (called.count(id) == 1 && (early.count(id) == 0 || answered.count(id) == 1))
        paired.insert(id);
    const Said* thinker = nullptr;
    for (const Said& said : view) {
      if (said.role == Role::system) continue;
      if (said.role != Role::assistant) thinker = nullptr;
      if (said.reasons) thinker = &said;
      if (thinker != nullptr && thinker != &said && !said.calls.empty())
        reasoned[thinker->ordinal].insert(said.ordinal);
    }
  }
};

void expect_whole_pairs(const Units& before, const std::vector<Said>& after) {
  std::set<std::string> calls, results;
  for (const Said& said : after) {
    calls.insert(said.calls.begin(), said.calls.end());
    results.insert(said.results.begin(), said.results.end());
  }
  for (const std::string& id : before.paired)
    EXPECT_EQ(calls.count(id), results.count(id)) << "call " << id;
}

void expect_whole(const Units& before, const std::vector<Said>& after) {
  expect_whole_pairs(before, after);
  std::set<std::uint64_t> ordinals;
  for (const Said& said : after) ordinals.insert(said.ordinal);
  for (const auto& [reasoning, followers] : before.reasoned)
    for (const std::uint64_t call : followers)
      EXPECT_EQ(ordinals.count(reasoning), ordinals.count(call))
          << "reasoning " << reasoning << ", call " << call;
}

std::vector<std::pair<std::string, StrategyPtr>> strategies() {
  const StrategyPtr clear = clear_tool_results({.keep = 1});
  const CacheRules cache{CacheRules::Kind::prefix, 0, 1, 1.25, 0.1};
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
          {"prefer_cache", prefer_cache({clear, clear_tool_results({.keep = 1, .late = true}),
                                         smart_summary({.keep = 2})},
                                        {.rules = cache, .turns = 3})},
          {"clear, digest, window", pipeline({clear, smart_summary(), sliding_window()})}};
}

// The values of one member in all objects of a list, for objects whose type passes.
template <class Is>
std::vector<std::string> ids_in(const JsonValue& list, std::string_view member, Is is) {
  std::vector<std::string> ids;
  for (const JsonValue item : list.elements()) {
    const std::optional<JsonValue> type = item.find("type"), id = item.find(member);
    if (type && id && type->is(JsonType::string) && id->is(JsonType::string) && is(type->string()))
      ids.push_back(id->string());
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

// Each of these takes calls and results in turns: what a turn calls is answered before the next
// one, and by nobody else.
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
    EXPECT_TRUE(open_.empty()) << "nobody answers " << (open_.empty() ? "" : *open_.begin()) << ": "
                               << json_;
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
    for (const JsonValue& call : objects_in(message, "tool_calls"))
      answers.call(string_in(call, "id"));
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

// Gemini may leave out ids; then names tell. Where there are ids, names say the same.
void expect_whole_gemini(const std::string& json, const JsonValue& root) {
  Answers answers(json);
  std::string last;
  std::map<std::string, std::string> called;  // names by id
  for (const JsonValue& content : objects_in(root, "contents")) {
    const std::string role = string_in(content, "role");
    if (role == "model" && last != role) {
      answers.expect_none_open();
      called.clear();
    }
    last = role;
    for (const JsonValue& part : objects_in(content, "parts")) {
      if (const std::optional<JsonValue> response = part.find("functionResponse")) {
        const std::string id = string_in(*response, "id"), name = string_in(*response, "name");
        answers.answer(name);
        if (!id.empty()) {
          EXPECT_EQ(called[id], name) << "the call " << id << ": " << json;
        }
      }
      if (const std::optional<JsonValue> call = part.find("functionCall")) {
        const std::string id = string_in(*call, "id"), name = string_in(*call, "name");
        answers.call(name);
        if (!id.empty()) {
          EXPECT_TRUE(called.emplace(id, name).second) << "two calls " << id << ": " << json;
        }
      }
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
  for (const std::string& id :
       ids_in(input, "call_id", [](const std::string& type) { return type.ends_with("_call"); }))
    called.insert(id);
  for (const std::string& id :
       ids_in(input, "call_id", [](const std::string& type) { return type.ends_with("_output"); }))
    answered.insert(id);
  for (const std::string& id : ids_in(
           input, "id", [](const std::string& type) { return type == "local_shell_call_output"; }))
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
              (role ? role->string_is("assistant")
                    : kind.ends_with("_call") || kind == "item_reference" || kind == "compaction");
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
    // without a request of the caller's, nothing can be refused
    const Result<Rendering> sent = render(view, profile);
    ASSERT_TRUE(sent) << sent.error().message;
    expect_whole_request(profile.dialect, sent->json);
  }
}

// A conversation that is edited by every operation there is, at random. Those that are refused
// change nothing.
class Edited {
 public:
  Edited(std::uint64_t seed, std::map<std::string_view, std::uint64_t>& done)
      : request_(seed, 1000), done_(done), conversation_(Conversation::open(store_, "p").value()) {}

  void append(const View& view) {
    op::Append all;
    for (const Message& message : view) all.messages.push_back(message);
    if (!all.messages.empty()) apply(std::move(all));
  }

  void edit() {
    const std::size_t which = below(std::size(edits));
    (this->*edits[which])();
  }

  const Conversation& conversation() const { return conversation_; }

 private:
  using Edit = void (Edited::*)();

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : request_.below(n); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t size() const { return conversation_.view().size(); }
  std::uint64_t stored() const { return conversation_.stats().total_messages; }
  Names some_name() { return Names::indices({below(size())}); }
  Names stretch() {
    Names names;
    const std::uint64_t start = below(size());
    for (std::uint64_t i = start; i < std::min(size(), start + 1 + below(4)); ++i)
      names.numbers.push_back(i);
    return names;
  }
  std::optional<Pairs> some_pairs() {
    return one_in(3) ? std::nullopt : std::optional(static_cast<Pairs>(below(choices_of<Pairs>)));
  }

  // Messages of a client, ids new. Gemini's calls may have none: their ids would be made again.
  std::vector<Message> some_turns() {
    const Dialect dialect = static_cast<Dialect>(below(dialect_count));
    std::vector<Message> made;
    if (dialect != Dialect::gemini)
      made = import_messages(dialect, request_.body(dialect)).value().messages;
    if (made.empty())
      made.push_back(Message::make(Role::user, "hello " + std::to_string(next_++)).value());
    return made;
  }
  Message some_message() {
    std::vector<Message> made = some_turns();
    return std::move(made[below(made.size())]);
  }

  bool apply(Operation::What what) {
    const Operation operation{std::move(what)};
    SCOPED_TRACE(name(operation));
    const History before = conversation_.history();
    const Result<Outcome> outcome = conversation_.apply(operation);
    if (!outcome) {
      // A RECALL may find only what is larger than its budget.
      EXPECT_TRUE(outcome.error().code == ErrorCode::invalid_argument ||
                  outcome.error().code == ErrorCode::not_found ||
                  (std::holds_alternative<op::Recall>(operation.what) &&
                   outcome.error().code == ErrorCode::cannot_fit))
          << name(operation) << ": " << outcome.error().message;
      return false;
    }
    ++done_[name(operation)];
    const bool may_split =
        !mends_units(operation) || (shrinks(operation) && !before.marked(pinned_mark).empty());
    EXPECT_TRUE(may_split || outcome->warnings.empty()) << name(operation);
    Units units(read(before.view()));
    const std::vector<Said> after = read(conversation_.view());
    for (const Said& said : after)
      // it had no partner before
      if (said.ordinal >= before.stats().total_messages) units.forget(said);
    if (outcome->warnings.empty()) expect_whole_pairs(units, after);
    if (!may_split) expect_whole(units, after);
    if (testing::Test::HasFailure())
      ADD_FAILURE() << told(before.view()) << "becomes\n" << told(conversation_.view());
    return true;
  }

  static std::string told(const View& view) {
    std::string text;
    for (std::uint64_t i = 0; i < view.size(); ++i)
      text += std::to_string(view.ordinal(i).value) + " " + std::string(view[i].json()) + "\n";
    return text;
  }

  // Pinned messages stay all the same.
  static bool shrinks(const Operation& operation) {
    return std::visit(
        [](const auto& what) {
          if constexpr (requires { what.pairs; }) return what.pairs == Pairs::shrink;
          return false;
        },
        operation.what);
  }

  void append_turns() { apply(op::Append{some_turns()}); }
  void insert() { apply(op::Insert{below(size() + 1), some_turns()}); }
  void replace() { apply(op::Replace{one_in(2) ? some_name() : stretch(), {some_message()}}); }
  void truncate() {
    op::Truncate cut{.pairs = some_pairs()};
    const std::uint64_t some = below(size() / 2 + 1);
    switch (below(5)) {
      case 0: cut.keep_first = size() - some; break;
      case 1: cut.keep_last = size() - some; break;
      case 2: cut.remove_first = some; break;
      case 3: cut.remove_last = some; break;
      default: cut.range = Range{some / 2, size() - some / 2};
    }
    apply(cut);
  }
  void clear() { apply(op::Clear{one_in(2)}); }
  void filter() {
    op::Filter filter{.pairs = some_pairs()};
    if (one_in(2))
      filter.roles = {Role::user, one_in(2) ? Role::assistant : Role::tool, Role::system};
    if (one_in(3)) filter.content_contains = {"l", "x"};
    if (one_in(2)) filter.content_excludes = {one_in(2) ? "hello" : "r"};
    apply(filter);
  }
  void erase() { apply(op::Delete{stretch(), some_pairs()}); }
  void compress() {
    apply(op::Compress{
        stretch(),
        one_in(4) ? std::nullopt : std::optional(Message::make(Role::user, "summary").value())});
  }
  void compress_by_strategy() {
    const std::vector<std::pair<std::string, StrategyPtr>> all = strategies();
    const StrategyPtr strategy = all[below(all.size())].second;
    const Result<Outcome> done =
        conversation_.compress(*strategy, {.tokens_max = conversation_.stats().tokens / 2});
    if (done) ++done_["COMPRESS"];
    EXPECT_TRUE(done || done.error().code == ErrorCode::cannot_fit) << done.error().message;
  }
  void expand() {
    std::vector<std::uint64_t> standing;
    for (std::uint64_t i = 0; i < size(); ++i)
      if (!conversation_.history().stands_for(conversation_.view().ordinal(i)).empty())
        standing.push_back(i);
    apply(op::Expand{standing.empty() || one_in(4) ? below(size())
                                                   : standing[below(standing.size())]});
  }
  void show() {
    const View view = conversation_.view();
    std::set<std::uint64_t> hidden;
    for (std::uint64_t ordinal = 0; ordinal < stored(); ++ordinal) hidden.insert(ordinal);
    for (std::uint64_t i = 0; i < view.size(); ++i) hidden.erase(view.ordinal(i).value);
    op::Show show;
    for (const std::uint64_t ordinal : hidden)
      if (one_in(hidden.size() < 3 ? 1 : 3)) show.ordinals.push_back(ordinal);
    apply(show);
  }
  void merge() {
    const std::uint64_t at = below(size());
    apply(op::Merge{{at, (at + 1) % std::max<std::uint64_t>(size(), 1)}});
  }
  void split() { apply(op::Split{below(size()), {1}}); }
  void transform() {
    op::Transform transform{some_name(), SetMetadata{R"({"k":1})"}};
    if (one_in(3)) transform.change = ReplaceText{"l", "L"};
    if (one_in(3)) transform.change = TruncateText{.chars_max = 2};
    if (one_in(4)) transform.which = std::vector<Role>{Role::tool, Role::assistant};
    apply(transform);
  }
  void start_batch() { apply(op::StartBatch{.hide_prior = one_in(3)}); }
  std::uint64_t some_batch() { return below(conversation_.stats().total_batches); }
  void end_batch() {
    apply(op::EndBatch{some_batch(), one_in(2) ? std::vector<Role>{Role::assistant, Role::tool}
                                               : std::vector<Role>()});
  }
  void rollback() { apply(op::Rollback{some_batch()}); }
  void pin() { apply(op::Mark{stretch(), std::string(pinned_mark)}); }
  void unpin() { apply(op::Unmark{stretch(), std::string(pinned_mark)}); }
  void undo() { apply(op::Undo{}); }
  void redo() { apply(op::Redo{}); }
  void undo_and_redo() {
    undo();
    redo();
  }
  void restore() { apply(op::Restore{below(conversation_.version().value + 1)}); }
  void import_mark_map() {
    MarkMap map = conversation_.history().mark_map();
    for (std::vector<std::uint64_t>& role : map.type_indices) role.clear();
    std::vector<std::uint64_t>& all = map.original_indices;
    if (!all.empty() && one_in(2))
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(below(all.size())));
    if (all.size() > 1 && one_in(2)) std::swap(all.front(), all[below(all.size())]);
    apply(op::ImportMarkMap{map});
  }
  // A client sends the list that it sent before, or the view, with some dropped, some changed, some
  // new.
  void reconcile() {
    const View log = conversation_.history().log(), view = conversation_.view();
    std::vector<Message> kept;
    const std::vector<Ordinal> listed = conversation_.history().client_list();
    if (listed.empty()) {
      for (const Message& message : view) kept.push_back(message);
    } else {
      for (const Ordinal ordinal : listed) kept.push_back(log[ordinal.value]);
    }
    op::Reconcile sent;
    const auto send = [&](const Message& message) {
      sent.list.push_back({message, identity(message)});
    };
    for (const Message& message : kept) {
      if (one_in(12)) continue;
      send(one_in(12) ? some_message() : message);
    }
    if (sent.list.empty() || one_in(2))
      for (const Message& message : some_turns()) send(message);
    apply(sent);
  }
  void recall() {
    apply(
        op::Recall{.text = "hello long words order answer done", .budget_tokens = 1 + below(200)});
  }
  void merge_fork() {
    const std::string id = "f" + std::to_string(next_++);
    Result<Conversation> fork =
        conversation_.fork(Version(below(conversation_.version().value + 1)), id);
    ASSERT_TRUE(fork) << fork.error().message;
    const std::uint64_t from = fork->stats().total_messages;
    fork->apply({op::Append{some_turns()}}).value();
    const MergeMode mode = static_cast<MergeMode>(below(choices_of<MergeMode>));
    op::MergeFork merge{.from = id, .mode = mode};
    if (mode == MergeMode::pick)
      for (std::uint64_t k = from; k < fork->stats().total_messages; ++k)
        if (merge.ordinals.empty() || one_in(2)) merge.ordinals.push_back(k);
    apply(merge);
  }

  static constexpr Edit edits[] = {
      &Edited::append_turns,
      &Edited::append_turns,
      &Edited::insert,
      &Edited::replace,
      &Edited::truncate,
      &Edited::clear,
      &Edited::filter,
      &Edited::erase,
      &Edited::compress,
      &Edited::compress_by_strategy,
      &Edited::expand,
      &Edited::expand,
      &Edited::show,
      &Edited::show,
      &Edited::merge,
      &Edited::split,
      &Edited::transform,
      &Edited::start_batch,
      &Edited::end_batch,
      &Edited::rollback,
      &Edited::pin,
      &Edited::unpin,
      &Edited::undo,
      &Edited::undo_and_redo,
      &Edited::restore,
      &Edited::recall,
      &Edited::reconcile,
      &Edited::merge_fork,
      &Edited::import_mark_map,
  };

  RandomRequest request_;
  std::map<std::string_view, std::uint64_t>& done_;
  std::uint64_t next_ = 0;
  std::shared_ptr<Store> store_ = memory_store();
  Conversation conversation_;
};

class UnitsOf {
 public:
  explicit UnitsOf(const History& history) : history_(history), units_(read(history.view())) {}

  // No strategy splits one, with half of the tokens as its target, and without a target where that
  // is out of reach.
  void survive(const Aim& given) const {
    for (const auto& [name, strategy] : strategies()) {
      SCOPED_TRACE(name);
      Aim aim = given;
      aim.tokens_max = history_.stats().tokens / 2;
      Result<Plan> plan = strategy->plan(history_, aim);
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::cannot_fit) << plan.error().message;
        aim.tokens_max.reset();
        if (!strategy->needs_tokens_max()) plan = strategy->plan(history_, aim);
      }
      if (!plan || plan->replacements.empty()) continue;
      const Result<Step> step =
          history_.apply({op::ApplyPlan{*plan}}, {.now_ms = 5, .count_tokens = aim.count_tokens});
      ASSERT_TRUE(step) << step.error().message;
      expect_whole(units_, read(step->history.view()));
      expect_whole_requests(step->history.view());
      if (testing::Test::HasFailure()) return;
    }
    expect_whole_requests(history_.view());
  }

 private:
  History history_;
  Units units_;
};

TEST(Units, NoStrategyAndNoRequestSplitsOne) {
  const char* const seed = std::getenv("SEED");
  const char* const many = std::getenv("UNDERTEXT_UNIT_CONVERSATIONS");
  const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
  const std::uint64_t count = many != nullptr ? std::strtoull(many, nullptr, 10) : 400;
  Aim aim;
  aim.count_tokens = test_tokens;
  aim.count_text = [](std::string_view text) { return text.size() / 4; };
  std::map<std::string_view, std::uint64_t> done;
  std::uint64_t edits = 0;
  for (std::uint64_t s = first; s < first + count; ++s) {
    SCOPED_TRACE("SEED=" + std::to_string(s) + " UNDERTEXT_UNIT_CONVERSATIONS=1");
    const Dialect dialect = static_cast<Dialect>(s % dialect_count);
    if (s % 3 == 0) UnitsOf(RandomRequest(s, 0, true).edited(dialect)).survive(aim);
    History history = RandomRequest(s).edited(dialect);
    RandomConversation more(s, {.turns_max = 2, .edits_max = 4});
    for (std::uint64_t rest = s % 4; rest > 0; --rest) history = more.edited(history);
    UnitsOf(history).survive(aim);
    if (testing::Test::HasFailure()) return;
    Edited edited(s, done);
    edited.append(history.view());
    for (std::uint64_t rest = 4 + s % 8; rest > 0; --rest) edited.edit();
    UnitsOf(edited.conversation().history()).survive(edited.conversation().aim());
    if (testing::Test::HasFailure()) return;
  }
  for (const auto& [name, times] : done) edits += times;
  std::printf(
      "%llu conversations, %llu edits by %zu operations, %zu strategies, %zu dialects: no unit was "
      "split\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(edits), done.size(),
      strategies().size(), dialect_count);
  if (count < 400) return;
  for (const OperationRow& row : operation_rows)
    EXPECT_GT(done[row.name], 0u) << row.name << " was never carried out";
}

}  // namespace
}  // namespace undertext
