// Random clients whose requests are recorded: every one of them is rebuilt byte for byte, whatever
// happens to the conversation.
//
//     SEED=n   the first run          RUNS=n   how many
#include <cstdio>
#include <cstdlib>
#include <random>

#include "client_requests.hpp"
#include "history/random_client.hpp"
#include "kinds.hpp"

namespace undertext {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

class RequestStory : RandomClient {
 public:
  RequestStory(std::uint64_t seed, std::shared_ptr<Store> store)
      : RandomClient(seed),
        store_(std::move(store)),
        conversation_(Conversation::open(store_, "story").value()) {}

  void run() {
    for (std::uint64_t steps = 5 + below(60); steps > 0 && !::testing::Test::HasFatalFailure();
         --steps)
      step();
    recording_.expect_all(conversation_);
  }

 private:
  std::string marker() { return R"(,"cache_control":{"type":"ephemeral"})"; }

  std::string spelled(const Remembered& message, bool marked) {
    const std::string said =
        message.is_summary
            ? "This session is being continued from a previous conversation " + message.text
            : message.text;
    if (!marked && !spells_lists_)
      return R"({"role":")" + message.role + R"(","content":")" + said + R"("})";
    return R"({"role":")" + message.role + R"(","content":[{"type":"text","text":")" + said + '"' +
           (marked ? marker() : "") + "}]}";
  }

  std::string request() {
    std::string body =
        R"({"model":"m","tools":[{"name":"t)" + std::to_string(below(3)) + R"("}],"system":[)";
    if (one_in(2))
      body += R"({"type":"text","text":"x-anthropic-billing-header: )" + std::to_string(random_()) +
              R"("},)";
    body +=
        R"({"type":"text","text":"be good")" + (one_in(2) ? marker() : "") + R"(}],"messages":[)";
    const std::string separator = one_in(8) ? ", " : ",";
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].role == "system") continue;
      if (body.back() != '[') body += separator;
      body += spelled(list_[i], i + 2 >= list_.size());
    }
    return body + "],\"max_tokens\":" + std::to_string(below(1000)) + (one_in(5) ? "}\n" : "}");
  }

  void step() {
    change_list();
    if (list_.empty() || list_[0].role != "system")
      list_.insert(list_.begin(), {"system", "be good"});
    if (list_.size() == 1) list_.push_back(fresh());
    std::vector<Message> answered;
    std::string answer;
    if (one_in(2)) {
      const Remembered said{"assistant", "answer " + std::to_string(next_text_++)};
      answered.push_back(Message::make(Role::assistant, said.text).value());
      answer = "event: message\ndata: {\"text\":\"" + said.text + "\"}\n\n";
      if (one_in(8)) answer += std::string("\xff\0\xfe", 3);
      const auto recorded = recording_.take(conversation_, request(), answer, answered);
      list_.push_back(said);
      versions_[recorded.number] = recorded.version;
    } else {
      const auto recorded = recording_.take(conversation_, request());
      versions_[recorded.number] = recorded.version;
    }
    switch (below(12)) {
      case 0: static_cast<void>(conversation_.apply({op::Undo{}})); break;
      case 1:
        static_cast<void>(conversation_.apply(
            {op::Delete{Names::indices({below(conversation_.view().size())})}}));
        break;
      case 2: reopen(); break;
      case 3: prune(); break;
      case 4: recording_.expect_all(conversation_); break;
      case 5: conversation_.checkpoint().value(); break;
      case 6:
        if (one_in(4)) redact();
        break;
      default: break;
    }
  }

  void reopen() {
    conversation_ = Conversation::open(store_, std::string(conversation_.id())).value();
  }

  void prune() {
    const Result<Reclaimed> reclaimed = conversation_.prune_versions({.versions = 1 + below(20)});
    ASSERT_TRUE(reclaimed) << reclaimed.error().message;
    const std::uint64_t last = versions_.rbegin()->first;
    for (const auto& [number, version] : versions_)
      if (version < reclaimed->first_version && number != last) recording_.forget(number);
    recording_.expect_all(conversation_);
  }

  void redact() {
    const std::uint64_t ordinal = below(conversation_.stats().total_messages);
    ASSERT_TRUE(conversation_.redact({Ordinal(ordinal)}, {"admin", 1, "why"}));
    recording_.forget_all();
    for (const RequestRecord& record : conversation_.requests({.last = 1000}).value()) {
      EXPECT_FALSE(record.has_raw_request || record.has_raw_answer);
      EXPECT_TRUE(record.volatile_parts.empty());
    }
    // The client stops sending it, so that requests are kept again.
    list_.assign(1, {"system", "be good"});
    next_text_ += 1000;
    const std::uint64_t count = conversation_.requests({.last = 1000}).value().size();
    EXPECT_GT(count, 0u);
    conversation_ = Conversation::open(store_, "story" + std::to_string(next_text_)).value();
    versions_.clear();
  }

  std::shared_ptr<Store> store_;
  Conversation conversation_;
  test::Recording recording_{"claude_code"};
  std::map<std::uint64_t, Version> versions_;
};

TEST(RequestModel, EveryRequestIsRebuiltByteForByte) {
  const std::uint64_t seed = from_environment("SEED", std::random_device{}()),
                      runs = from_environment("RUNS", 20);
  std::printf("SEED=%llu RUNS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(runs));
  for (std::uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed + run) + " RUNS=1");
    test::Folder folder;
    const bool in_memory = run % 2 == 0 || !test::is_built("sqlite:/nowhere/at/all");
    const std::shared_ptr<Store> store =
        in_memory ? memory_store()
                  : open_store("sqlite:" + folder.file("s.db"), {.durability = Durability::normal})
                        .value();
    RequestStory(seed + run, store).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace undertext
