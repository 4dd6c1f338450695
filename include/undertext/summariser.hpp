// Turns messages into a short text that can stand for them.
//
//     std::shared_ptr<const Summariser> digest = digest_summariser();
//     Summary summary = digest->summarise({messages, 800, count}).value();
//
// A summariser only makes text. Whether it takes the place of anything is decided elsewhere (compression.hpp), and what it stands for is
// never lost. Any number of threads may use one at once.
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

namespace undertext {

struct SummaryRequest {
  std::vector<Message> messages;                                          // the originals, in order
  std::uint64_t tokens_max = 0;                                           // a longer summary is of no use
  std::function<std::uint64_t(std::string_view text)> count_tokens = {};  // of plain text, as the conversation counts
  std::stop_token cancel = {};                                            // asks a slow summariser to give up
  std::function<void(std::string_view text_so_far)> on_progress = {};     // while it writes, where it can tell; on its own thread
  std::vector<std::size_t> summaries =
      {};  // indices of those messages that are earlier summaries, as their records say; most often none
  // What follows the messages in the view and stays visible: not to be summarised, but it tells what was fixed since.
  std::vector<Message> after = {};
  std::vector<std::size_t> after_hidden = {};  // indices of those of which only the calls are visible: their results were cleared
};

struct Summary {
  std::string text;
  std::string model = {};           // who wrote it; empty for a digest
  std::uint64_t prompt_tokens = 0;  // what it cost, as the provider reported it
  std::uint64_t completion_tokens = 0;
};

class UNDERTEXT_API Summariser {
 public:
  virtual ~Summariser();
  virtual std::string_view name() const noexcept = 0;
  virtual bool is_slow() const noexcept = 0;  // true: it may wait for a network, and is kept off the writer's thread

  // cannot_fit: nothing useful is as short as tokens_max. unavailable: try again later; also when cancelled. Whatever else goes
  // wrong has the code that tells the caller what to do.
  virtual Result<Summary> summarise(const SummaryRequest& request) const = 0;
};

// Built in, deterministic, without a model: keeps what people miss in summaries. See docs/digest.md for what it keeps and in which
// order it lets go.
UNDERTEXT_API std::shared_ptr<const Summariser> digest_summariser();

// A model behind an HTTP endpoint.
struct EndpointSettings {
  enum class Kind : std::uint8_t { openai, anthropic };  // chat completions, or messages
  Kind kind = Kind::openai;
  std::string base_url;  // such as "https://api.openai.com/v1" or "https://api.anthropic.com"
  std::string model;
  std::string name = {};              // of the summariser, for receipts; empty: the model's
  std::string key_variable = {};      // the environment variable that holds the key …
  std::string key_file = {};          // … or a file that does; neither: no key is sent
  std::string prompt = {};            // instructions; empty: the built-in ones
  std::uint32_t timeout_ms = 60'000;  // of one attempt
  std::uint32_t attempts_max = 3;     // the first one included; only what may pass by itself is tried again
  std::uint32_t backoff_ms = 500;     // before the second attempt; doubles, and yields to Retry-After
  bool stream = true;
  std::function<void(std::string_view text_so_far)> on_progress = {};  // while it streams, on the thread that waits
};

// invalid_argument: settings that cannot work. unsupported: this build has no HTTP client (libcurl).
UNDERTEXT_API Result<std::shared_ptr<const Summariser>> endpoint_summariser(EndpointSettings settings);

}  // namespace undertext
