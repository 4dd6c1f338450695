#include "dialect/stream.hpp"

#include <utility>

#include "dialect/tool_names.hpp"
#include "message/read_fields.hpp"

namespace undertext {

struct StreamAssembler::Rep {
  static constexpr std::size_t bytes_max = 64u << 20;
  std::unique_ptr<Assembly> assembly;
  std::size_t bytes = 0;
  JsonText table = {};
  Dialect dialect = Dialect::openai_chat;
  ToolNames names = {};
};

StreamAssembler::StreamAssembler(Dialect dialect, ToolNames names) : rep_(std::make_unique<Rep>()) {
  rep_->dialect = dialect;
  rep_->names = std::move(names);
  switch (dialect) {
    case Dialect::openai_chat: rep_->assembly = chat_assembly(); break;
    case Dialect::openai_responses: rep_->assembly = responses_assembly(); break;
    case Dialect::anthropic: rep_->assembly = anthropic_assembly(); break;
    case Dialect::gemini: rep_->assembly = gemini_assembly(); break;
  }
}
StreamAssembler::~StreamAssembler() = default;
StreamAssembler::StreamAssembler(StreamAssembler&&) noexcept = default;
StreamAssembler& StreamAssembler::operator=(StreamAssembler&&) noexcept = default;

Result<void> StreamAssembler::feed(std::string_view data) {
  if (data == "[DONE]") {
    rep_->assembly->state.complete = true;
    return {};
  }
  if (data.size() > Rep::bytes_max - rep_->bytes)
    return Error{.code = ErrorCode::too_large, .message = "a streamed answer of more than 64 MiB"};
  if (std::optional<Error> error = rep_->table.read(data, {})) return error;
  if (!rep_->table.root().is(JsonType::object))
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "an event of a stream must be a JSON object"};
  rep_->bytes += data.size();
  rep_->assembly->feed(rep_->table.root());
  return {};
}

StreamAssembler::Streamed StreamAssembler::finish() const {
  Streamed streamed = rep_->assembly->state;
  rep_->assembly->build(streamed.message);
  if (!rep_->names.empty() && !streamed.message.empty())
    streamed.message = with_own_tool_names(rep_->dialect, streamed.message, rep_->names);
  if (!streamed.error_json.empty()) streamed.complete = false;
  return streamed;
}

void Assembly::take_names(const JsonValue& holder, std::string_view id_key,
                          std::string_view model_key) {
  if (const std::optional<JsonValue> id = string_of(holder, id_key)) state.id = id->string();
  if (const std::optional<JsonValue> model = string_of(holder, model_key))
    state.model = model->string();
}

bool Assembly::take_error(const JsonValue& event) {
  const std::optional<JsonValue> error = event.find("error");
  if (!error || error->is(JsonType::null)) return false;
  state.error_json = error->raw();
  return true;
}

}  // namespace undertext
