// What an endpoint answers, whole or event by event, in the words of either API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/summariser.hpp>

#include "base/json_text.hpp"

namespace undertext {

struct Answer {
  std::string text = {};
  std::string model = {};
  std::string stop_reason = {};  // as the provider spells it; empty until it has said so
  std::string refusal = {};
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
};

// The error object of a provider.
struct ProviderError {
  std::string message = {};
  std::string type = {};  // type and code
};

// Of an error body in any of the usual shapes; the text itself as the message when it has none of
// them.
ProviderError read_provider_error(std::string_view body);

class AnswerReader {
 public:
  explicit AnswerReader(EndpointSettings::Kind kind) : kind_(kind) {}

  // An answer that is not streamed, or one event of a stream. Unknown members and events are passed
  // over.
  void read_whole(std::string_view json);
  void read_event(std::string_view name, std::string_view data);

  const Answer& answer() const { return answer_; }
  bool is_over() const { return is_over_; }  // nothing more is to come

  // At most one of these two.
  const std::optional<ProviderError>& error() const { return error_; }
  // why this is no answer; empty when it is
  const std::string& garbage() const { return garbage_; }

 private:
  std::optional<JsonValue> read_object(std::string_view json);
  void read_usage(const JsonValue& holder);
  void read_role(const JsonValue& holder);
  void read_content(const JsonValue& content);
  void read_openai_choices(const JsonValue& answer, std::string_view message_key);
  void read_anthropic_event(const JsonValue& event);

  EndpointSettings::Kind kind_;
  Answer answer_;
  bool is_over_ = false;
  std::optional<ProviderError> error_;
  std::string garbage_;
  JsonText table_;
};

}  // namespace undertext
