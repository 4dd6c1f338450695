#include "transfer/export.hpp"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "transfer/export_lines.hpp"
#include "transfer/import.hpp"

namespace undertext {
namespace {

using Lines = std::vector<std::string>;

Message message(std::string_view json) { return Message::parse(json).value(); }

Lines exported(Store& store, const Conversation& conversation) {
  Lines lines;
  const std::optional<Error> error = export_conversation(
      store, conversation, {.write = [&](std::string_view line) { lines.emplace_back(line); }});
  if (error) ADD_FAILURE() << error->message;
  return lines;
}

LineSource source(const Lines& lines) {
  return [&lines, next = std::size_t{0}]() mutable -> std::optional<std::string_view> {
    if (next == lines.size()) return {};
    return lines[next++];
  };
}

Result<ImportedConversation> imported(const std::shared_ptr<Store>& store, std::string_view id,
                                      const Lines& lines, ImportOptions options = {}) {
  const LineSource next_line = source(lines);
  return import_conversation(store, id, next_line, options);
}

Settings ticking() {
  Settings settings;
  settings.clock_ms = [now = std::int64_t{1000}]() mutable { return now += 7; };
  return settings;
}

std::string bytes_of(const View& view) {
  std::string bytes;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    bytes += std::to_string(view.ordinal(i).value) + "@" + std::to_string(view.time_ms(i)) + "#" +
             std::to_string(view.tokens(i));
    bytes.append(view[i].json()).append("\n");
  }
  return bytes;
}

void expect_equal(const History& a, const History& b) {
  ASSERT_EQ(a.version(), b.version());
  EXPECT_EQ(bytes_of(a.log()), bytes_of(b.log()));
  for (std::uint64_t v = 0; v <= a.version().value; ++v) {
    EXPECT_EQ(bytes_of(a.view_at(Version(v)).value()), bytes_of(b.view_at(Version(v)).value()))
        << v;
    const VersionInfo x = a.version_info(Version(v)), y = b.version_info(Version(v));
    EXPECT_EQ(x.operation, y.operation);
    EXPECT_EQ(x.timestamp_ms, y.timestamp_ms);
    EXPECT_EQ(x.description, y.description);
    EXPECT_EQ(x.batch_index, y.batch_index);
    EXPECT_EQ(x.restores, y.restores);
  }
  EXPECT_EQ(a.marked("pinned"), b.marked("pinned"));
  EXPECT_EQ(a.batches().size(), b.batches().size());
  EXPECT_EQ(a.receipts().size(), b.receipts().size());
}

// Any operation at all; most are refused now and then, which changes nothing.
Operation random_operation(std::mt19937_64& random, const History& history) {
  const auto below = [&](std::uint64_t n) { return n == 0 ? 0 : random() % n; };
  const std::uint64_t n = history.view().size();
  const auto hello = [&] {
    const char* roles[] = {"system", "user", "assistant"};
    return message(R"({"role":")" + std::string(roles[below(3)]) + R"(", "content":"text )" +
                   std::to_string(below(1000)) + R"("})");
  };
  const std::string description = below(3) == 0 ? "because \"x\"\n" : "";
  const Names names = below(2) == 0 ? Names::indices({below(n)})
                                    : Names::ordinals({below(history.stats().total_messages)});
  const auto digit = [&] { return std::to_string(below(10)); };
  const auto call = [&] {
    return message(
        R"({"role":"assistant","content":null,"toolCalls":[{"id":"c","name":"f","arguments":"{}"}]})");
  };
  const auto result = [&] {
    return message(R"({"role":"tool","toolCallId":"c","content":"result )" + digit() + R"("})");
  };
  const auto what = [&]() -> Operation::What {
    switch (below(25)) {
      case 0: return op::Insert{below(n + 1), {hello(), hello()}};
      case 1: return op::Replace{names, {hello()}};
      case 2: return op::Replace{Names::indices({below(n), n - 1}), {hello(), hello()}};
      case 3:
        return op::Truncate{.keep_last = below(n + 3),
                            .role = below(2) ? std::optional(Role::user) : std::nullopt};
      case 4:
        return op::Truncate{.keep_first = n, .range = Range{below(2), n}, .pairs = Pairs::grow};
      case 5: return op::Clear{below(2) == 0};
      case 6:
        return op::Filter{.roles = {Role::user, Role::system}, .content_excludes = {"text 1"}};
      case 7: return op::Delete{names};
      case 8: return op::Compress{names, below(2) ? std::optional(hello()) : std::nullopt};
      case 9: return op::Expand{below(n)};
      case 10: return op::Merge{{below(n), n - 1}, " / "};
      case 11: return op::Split{below(n), {2, 4}};
      case 12: return op::Transform{std::vector<Role>{Role::user}, ReplaceText{"t", "T"}};
      case 13: return op::Transform{names, SetMetadata{"{\"a\":\n1}"}};
      case 14:
        return op::Transform{names, op::TransformFunction([](const Message&) {
                               return Message::make(Role::user, "made");
                             })};
      case 15: return op::StartBatch{.hide_prior = below(2) == 0};
      case 16: return op::EndBatch{below(history.stats().total_batches), {Role::assistant}};
      case 17: return op::Rollback{below(history.stats().total_batches)};
      case 18: return op::Mark{names, "pinned"};
      case 19: return op::Undo{};
      case 20: return op::Restore{below(history.version().value + 1)};
      case 21:
        return op::Filter{.content_contains = {digit(), digit(), "res"},
                          .pairs = static_cast<Pairs>(below(3))};
      case 22:
        return op::Filter{.roles = {Role::user, Role::tool},
                          .content_contains = {"t"},
                          .content_excludes = {digit()}};
      case 23: return op::Append{{call(), hello(), result()}};
      default: return op::Append{{hello(), hello(), hello()}};
    }
  };
  return {what(),
          {.description = description,
           .operation_id = below(4) == 0 ? "id " + std::to_string(random()) : ""}};
}

std::uint64_t seed_of_test() {
  const char* given = std::getenv("SEED");
  return given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
}

TEST(Export, AConversationIsTheSameAfterItWasExportedAndImported) {
  const std::uint64_t seed = seed_of_test();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    const std::shared_ptr<Store> store = memory_store();
    Conversation conversation = Conversation::open(store, "a", ticking()).value();
    for (int i = 0; i < 60; ++i) {
      Operation operation = random_operation(random, conversation.history());
      const Result<Outcome> outcome = conversation.apply(std::move(operation));
      (void)outcome;
    }
    conversation.compress(*keep_recent(2)).value();
    const Lines lines = exported(*store, conversation);
    const Result<ImportedConversation> copy = imported(store, "b", lines);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->versions, conversation.version().value);
    const Conversation again =
        Conversation::open(store, "b", {}, {.make = OpenOptions::Make::never}).value();
    expect_equal(conversation.history(), again.history());
    ASSERT_EQ(exported(*store, again), lines);
    EXPECT_TRUE(check_store(*store).value().damage.empty());
    if (HasFailure()) return;
  }
}

std::vector<std::uint64_t> ordinals_of(const View& view) {
  std::vector<std::uint64_t> ordinals;
  for (std::uint64_t i = 0; i < view.size(); ++i) ordinals.push_back(view.ordinal(i).value);
  return ordinals;
}

// A conversation that is edited, redacted, reopened, forked, and replaced by its import, with what
// every version showed when it was made.
class TravellingConversation {
 public:
  explicit TravellingConversation(std::uint64_t seed) : random_(seed) { open(); }

  void step() {
    switch (random_() % 12) {
      case 0: return redact();
      case 1: return open();
      case 2: return fork();
      case 3: return travel();
      default: return edit();
    }
  }
  void travel() {
    const Lines lines = exported(*store_, *conversation_);
    const std::string log = bodies();
    id_ = fresh_id();
    const Result<ImportedConversation> copy = imported(store_, id_, lines);
    ASSERT_TRUE(copy) << copy.error().message;
    open();
    EXPECT_EQ(bodies(), log);
    EXPECT_EQ(exported(*store_, *conversation_), lines);
  }

 private:
  std::string fresh_id() { return "c" + std::to_string(made_++); }
  std::string bodies() const {
    std::string bodies;
    const View log = conversation_->history().log();
    for (std::uint64_t i = 0; i < log.size(); ++i) bodies.append(log[i].json()).append("\n");
    return bodies;
  }
  void open() {
    conversation_.reset();
    conversation_ =
        Conversation::open(store_, id_, ticking(), {.checkpoint_versions = 1 + random_() % 40})
            .value();
    compare();
  }
  void compare() const {
    const History history = conversation_->history();
    ASSERT_EQ(history.version().value + 1, shown_.size());
    for (std::uint64_t v = 0; v < shown_.size(); ++v)
      EXPECT_EQ(ordinals_of(history.view_at(Version(v)).value()), shown_[v]) << v;
  }
  void edit() {
    if (conversation_->apply(random_operation(random_, conversation_->history())))
      shown_.push_back(ordinals_of(conversation_->view()));
  }
  void redact() {
    const std::uint64_t messages = conversation_->stats().total_messages;
    if (messages == 0) return;
    const Result<Redaction> redacted =
        conversation_->redact({Ordinal(random_() % messages)}, {"me", 5, "private"});
    EXPECT_TRUE(redacted) << redacted.error().message;
    compare();
  }
  void fork() {
    const std::uint64_t version = random_() % shown_.size();
    id_ = fresh_id();
    conversation_->fork(Version(version), id_).value();
    shown_.resize(version + 1);
    open();
  }

  std::mt19937_64 random_;
  const std::shared_ptr<Store> store_ = memory_store();
  std::uint64_t made_ = 0;
  std::string id_ = fresh_id();
  std::optional<Conversation> conversation_;
  std::vector<std::vector<std::uint64_t>> shown_ = {{}};  // by version
};

TEST(Export, EveryVersionStaysTheSameThroughFiltersRedactionsExportsAndImportsInAnyOrder) {
  const std::uint64_t seed = seed_of_test();
  for (std::uint64_t round = 0; round < 15; ++round) {
    SCOPED_TRACE("SEED=" + std::to_string(seed + round));
    TravellingConversation conversation(seed + round);
    for (int i = 0; i < 80 && !testing::Test::HasFailure(); ++i) conversation.step();
    conversation.travel();
    if (HasFailure()) return;
  }
}

TEST(Export, AFilterByTextThatWasRedactedSinceIsImportedAsItWas) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  conversation
      .apply({op::Append{
          {Message::make(Role::user, "apple").value(), Message::make(Role::user, "pear").value()}}})
      .value();
  conversation.apply({op::Filter{.content_contains = {"apple"}}}).value();
  ASSERT_TRUE(conversation.redact({Ordinal(0)}, {"me", 5, "private"}));
  const Result<ImportedConversation> copy = imported(store, "b", exported(*store, conversation));
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(ordinals_of(Conversation::open(store, "b").value().view()),
            std::vector<std::uint64_t>{0});
}

TEST(Export, ARedactedMessageIsRedactedInTheCopyToo) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  const Message stub = message(
      R"({"role":"user","content":"[redacted]","metadata":{"redacted":{"who":"me","at":5,"why":"","sha256":""}}})");
  conversation.apply({op::Append{{message(R"({"role":"user","content":"apple"})"), stub}}}).value();
  ASSERT_TRUE(conversation.redact({Ordinal(0)}, {"me", 5, "private"}));
  const Lines lines = exported(*store, conversation);
  ASSERT_TRUE(imported(store, "b", lines));
  const Conversation copy = Conversation::open(store, "b").value();
  EXPECT_TRUE(copy.history().log()[0].is_redacted());
  EXPECT_FALSE(copy.history().log()[1].is_redacted());
  EXPECT_EQ(store->messages("b", 0, 1).value()[0].redacted,
            store->messages("a", 0, 1).value()[0].redacted);
  EXPECT_EQ(exported(*store, copy), lines);
  EXPECT_TRUE(check_store(*store).value().damage.empty());

  // A file cannot say it of what has another form.
  Lines forged = lines;
  forged[1].replace(forged[1].find(R"("redacted":[0])"), 14, R"("redacted":[1])");
  const Result<ImportedConversation> refused = imported(store, "c", forged);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

// As version 1 of the format has it: without what a FILTER kept.
TEST(Export, AnOlderFileIsImported) {
  const Lines lines = {
      R"({"format":"undertext.conversation","formatVersion":1,"createdAt":1000,"tokenizer":"estimate"})",
      R"({"version":1,"operation":"APPEND","timestamp":1007,"messageCount":2,"batchIndex":0,"messages":[{"role":"user","content":"apple"},{"role":"user","content":"pear"}]})",
      R"({"version":2,"operation":"FILTER","timestamp":1014,"contentContains":["pear"],"pairs":"literal","messageCount":1,"batchIndex":1})",
      R"({"version":3,"operation":"RESTORE","timestamp":1021,"restoredVersion":2,"messageCount":1,"batchIndex":1})"};
  LinesDigest digest;
  for (const std::string& line : lines) digest.add(line);
  Lines whole = lines;
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  conversation
      .apply({op::Append{
          {Message::make(Role::user, "apple").value(), Message::make(Role::user, "pear").value()}}})
      .value();
  conversation.apply({op::Delete{Names::indices({0})}}).value();
  whole.push_back(line_of(ExportEnd{3, 2, digest_of_view(conversation.view()), digest.hex()}));
  const Result<ImportedConversation> copy = imported(store, "b", whole);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(ordinals_of(Conversation::open(store, "b").value().view()),
            std::vector<std::uint64_t>{1});
}

TEST(Export, MarkMapsAndPlansTravelToo) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  for (int i = 0; i < 6; ++i)
    conversation.apply({op::Append{{Message::make(Role::user, std::string(4000, 'x')).value()}}})
        .value();
  conversation.compress(*smart_summary({.keep = 2})).value();
  MarkMap map = conversation.history().mark_map();
  std::swap(map.original_indices.front(), map.original_indices.back());
  for (std::vector<std::uint64_t>& list : map.type_indices) list.clear();
  conversation.apply({op::ImportMarkMap{map}}).value();
  const Lines lines = exported(*store, conversation);
  const Result<ImportedConversation> copy = imported(store, "b", lines);
  ASSERT_TRUE(copy) << copy.error().message;
  const Conversation again =
      Conversation::open(store, "b", {}, {.make = OpenOptions::Make::never}).value();
  expect_equal(conversation.history(), again.history());
  EXPECT_EQ(again.history().receipts().at(0).strategy,
            conversation.history().receipts().at(0).strategy);
  EXPECT_EQ(exported(*store, again), lines);
}

TEST(Export, ARepeatedOperationIdIsAnsweredByTheCopyToo) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  const Operation hello{op::Append{{Message::make(Role::user, "hello").value()}},
                        {.operation_id = "once"}};
  conversation.apply(hello).value();
  conversation.apply({op::Clear{}}).value();
  ASSERT_TRUE(imported(store, "b", exported(*store, conversation)));
  Conversation again = Conversation::open(store, "b").value();
  EXPECT_EQ(again.apply(hello).value().version, Version(1));
  EXPECT_EQ(again.version(), Version(2));
}

TEST(Export, WhatWasChangedOrCutOffIsRefusedAndNothingIsStored) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  for (int i = 0; i < 4; ++i)
    conversation.apply({op::Append{{Message::make(Role::user, "hello").value()}}}).value();
  const Lines lines = exported(*store, conversation);
  const auto refused = [&](const Lines& bad) {
    const LineSource next_line = source(bad);
    const Result<ImportedConversation> checked = check_export(next_line);
    return checked ? std::string("accepted") : std::string(name(checked.error().code));
  };
  EXPECT_EQ(refused(lines), "accepted");
  for (std::size_t gone = 0; gone < lines.size(); ++gone) {
    Lines bad = lines;
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(gone));
    EXPECT_NE(refused(bad), "accepted") << gone;
    bad = lines;
    bad.resize(gone);
    EXPECT_EQ(refused(bad), "corrupt") << gone;
    bad = lines;
    bad[gone].insert(bad[gone].size() - 1, R"(,"more":1)");
    EXPECT_EQ(refused(bad), "invalid_argument") << gone;
    bad = lines;
    bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(gone), lines[gone]);
    EXPECT_NE(refused(bad), "accepted") << gone;
  }
}

TEST(Export, AFileThatTellsAnotherStoryThanItsOperationsMakeIsRefused) {
  const std::shared_ptr<Store> store = memory_store();
  Conversation conversation = Conversation::open(store, "a", ticking()).value();
  conversation.apply({op::Append{{Message::make(Role::user, "hello").value()}}}).value();
  Lines lines = exported(*store, conversation);
  const std::size_t count = lines[1].find(R"("messageCount":1)");
  ASSERT_NE(count, std::string::npos);
  lines[1].replace(count, 16, R"("messageCount":2)");
  LinesDigest digest;
  digest.add(lines[0]);
  digest.add(lines[1]);
  lines[2] = line_of(ExportEnd{1, 1, digest_of_view(conversation.view()), digest.hex()});
  const Result<ImportedConversation> copy = imported(store, "b", lines);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, ErrorCode::corrupt);
  EXPECT_EQ(store->find("b").error().code, ErrorCode::not_found);
}

TEST(Export, SettingsThatNameSummarisersAreNotTakenUnasked) {
  const std::shared_ptr<Store> store = memory_store();
  const std::string note =
      R"({"summarisers":{"spy":{"url":"https://127.0.0.1:1/v1","model":"m"}}})";
  Conversation conversation = Conversation::open(store, "a", ticking(), {.note = note}).value();
  conversation.apply({op::Append{{Message::make(Role::user, "hello").value()}}}).value();
  const Lines lines = exported(*store, conversation);
  const Result<ImportedConversation> copy = imported(store, "b", lines);
  ASSERT_FALSE(copy);
  EXPECT_NE(copy.error().code, ErrorCode::internal);
  EXPECT_EQ(store->find("b").error().code, ErrorCode::not_found);
  EXPECT_TRUE(imported(store, "c", lines, {.config = "{}"}));
}

}  // namespace
}  // namespace undertext
