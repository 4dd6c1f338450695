// Any bytes, as what a gateway sees: requests and their answers, coded or not. Recording them never
// throws, and what it keeps can be had back. A recorder that crashed would take the traffic with
// it.
//
// An input is a line that says how to read the rest, and then requests and answers in turn, between
// NULs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/conversation.hpp>

#include "gateway/observed.hpp"
#include "gateway/turn_recorder.hpp"
#include "require.hpp"

namespace {

using namespace undertext;

constexpr std::array<Dialect, 4> dialects = {Dialect::openai_chat, Dialect::openai_responses,
                                             Dialect::anthropic, Dialect::gemini};
constexpr std::array<std::string_view, 6> codings = {"",     "gzip", "deflate",
                                                     "zstd", "br",   "gzip, zstd"};
constexpr std::array<std::string_view, 4> sessions = {"", "x-session-id",
                                                      "X-Claude-Code-Session-Id", "thread-id"};
constexpr std::uint64_t decoded_bytes_max = 1 << 20;

std::string_view taken(std::string_view& input, char end) {
  const std::string_view part = input.substr(0, input.find(end));
  input.remove_prefix(std::min(part.size() + 1, input.size()));
  return part;
}

std::string body_of(std::string_view bytes, std::string_view coding, CutOff cut) {
  const Result<std::string> body = decoded(bytes, coding, decoded_bytes_max, cut);
  require(!body || body->size() <= decoded_bytes_max, "what is decoded is bounded");
  return body ? *body : std::string(bytes);
}

class Recorded {
 public:
  Recorded()
      : recorder_({.store = [this](const std::string&) { return store_; },
                   .open = [this](const std::string&, const std::string& id) { return open(id); },
                   .secret = "secret"}) {}

  void turn(const SentRequest& sent, const GivenAnswer& answer) {
    const Result<std::shared_ptr<ObservedTurn>> begun = recorder_.begin(sent);
    if (!begun) return require(!begun.error().message.empty(), "an error says what is wrong");
    if (!*begun) return;
    const Result<std::uint64_t> number = recorder_.finish(**begun, answer);
    if (!number) return require(!number.error().message.empty(), "an error says what is wrong");
    const Conversation& conversation = *(*begun)->conversation;
    require(conversation.requests({.first = *number, .limit = 1}).value().size() == 1,
            "a turn has its record");
    if (!sent.body->empty())
      require(conversation.raw_request(*number).value() == *sent.body, "a request can be had back");
  }

 private:
  std::shared_ptr<Conversation> open(const std::string& id) {
    std::shared_ptr<Conversation>& conversation = open_[id];
    if (!conversation)
      conversation = std::make_shared<Conversation>(
          Conversation::open(store_, id, {}, {.make = OpenOptions::Make::never}).value());
    return conversation;
  }
  std::shared_ptr<Store> store_ = memory_store();
  std::map<std::string, std::shared_ptr<Conversation>> open_;
  TurnRecorder recorder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  std::string how(taken(input, '\n'));
  how.resize(4);
  const auto chosen = [&](std::size_t at, const auto& of) {
    return of[static_cast<unsigned char>(how[at]) % of.size()];
  };
  Recorded recorded;
  for (std::int64_t now_ms = 1'780'000'000'000; !input.empty(); ++now_ms) {
    SentRequest sent{.user = "alice",
                     .dialect = chosen(0, dialects),
                     .method = "POST",
                     .head = {.path = "/v1/messages"}};
    if (const std::string_view session = chosen(2, sessions); !session.empty())
      sent.head.headers.emplace_back(session, "s");
    sent.body = std::make_shared<const std::string>(
        body_of(taken(input, '\0'), chosen(1, codings), CutOff::refused));
    sent.at_ms = now_ms;
    GivenAnswer answer{.status = 200,
                       .form = how[3] % 2 == 0 ? ResponseForm::whole : ResponseForm::event_stream};
    answer.body = body_of(taken(input, '\0'), chosen(1, codings), CutOff::allowed);
    recorded.turn(sent, answer);
  }
  return 0;
}
