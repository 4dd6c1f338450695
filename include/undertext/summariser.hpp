// Turns messages into a short text that can stand for them.
//
//     std::shared_ptr<const Summariser> digest = digest_summariser();
//     Summary summary = digest->summarise({messages, 800, count}).value();
//
// A summariser only makes text. A strategy decides whether the text replaces messages
// (compression.hpp). Any number of threads may use one at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/message.hpp>
#include <undertext/work.hpp>

namespace undertext {

struct SummaryRequest {
  std::vector<Message> messages;  // the originals, in order
  // a longer summary is rejected
  std::uint64_t tokens_max = 0;
  // of plain text, as the conversation counts
  std::function<std::uint64_t(std::string_view text)> count_tokens = {};
  // cancels a slow summariser
  std::stop_token cancel = {};
  // partial text, where supported; on its own thread
  std::function<void(std::string_view text_so_far)> on_progress = {};
  // indices of messages that are earlier summaries, by their records; usually none
  std::vector<std::size_t> summaries = {};
  // The messages that follow in the view and stay visible. They are not summarised; they show what
  // was fixed since.
  std::vector<Message> after = {};
  // indices of those whose results were cleared: only the calls are visible
  std::vector<std::size_t> after_hidden = {};
  // The summaries of later messages that follow in the view, where they are made already: what they
  // say need not be said twice, and how things stand is for the last one to say.
  std::vector<Message> later = {};
  // The limits of the call that asks; null: none. Who reads many messages asks it between two, and
  // lets its Failure pass.
  std::shared_ptr<const Work> work = {};
};

struct Summary {
  std::string text;
  std::string model = {};           // that wrote it; empty for a digest
  std::uint64_t prompt_tokens = 0;  // what it cost, as the provider reported it
  std::uint64_t completion_tokens = 0;
};

class UNDERTEXT_API Summariser {
 public:
  virtual ~Summariser();
  virtual std::string_view name() const noexcept = 0;
  // true: it may wait for a network, and never runs on the writer's thread
  virtual bool is_slow() const noexcept = 0;

  // cannot_fit: no useful summary has at most tokens_max tokens. unavailable: retry later, or
  // cancelled. Other codes as ErrorCode describes them.
  virtual Result<Summary> summarise(const SummaryRequest& request) const = 0;
};

// Built in, deterministic, without a model. docs/digest.md lists what it keeps, and in which order
// it drops facts.
UNDERTEXT_API std::shared_ptr<const Summariser> digest_summariser();

// A model behind an HTTP endpoint.
struct EndpointSettings {
  enum class Kind : std::uint8_t { openai, anthropic };  // chat completions, or messages
  Kind kind = Kind::openai;
  std::string base_url;  // such as "https://api.openai.com/v1" or "https://api.anthropic.com"
  std::string model;
  std::string name = {};              // of the summariser, for receipts; empty: the model's
  std::string key_variable = {};      // the environment variable with the key …
  std::string key_file = {};          // … or a file with it; neither: no key is sent
  std::string prompt = {};            // instructions; empty: the built-in ones
  std::uint32_t timeout_ms = 60'000;  // of one attempt
  std::uint32_t attempts_max = 3;     // including the first; only transient errors are retried
  // before the second attempt; doubles; Retry-After overrides it
  std::uint32_t backoff_ms = 500;
  bool stream = true;
  // while it streams, on the thread that waits
  std::function<void(std::string_view text_so_far)> on_progress = {};
};

// invalid_argument: settings that cannot work. unsupported: this build has no HTTP client
// (libcurl).
UNDERTEXT_API Result<std::shared_ptr<const Summariser>> endpoint_summariser(
    EndpointSettings settings);

}  // namespace undertext
