// A client's request as the list that the conversation follows.
#include <algorithm>

#include <undertext/blocks.hpp>
#include <undertext/client.hpp>
#include <undertext/dialect.hpp>

#include "base/text_hash.hpp"
#include "client/begins.hpp"
#include "client/cached_content.hpp"
#include "client/markers.hpp"
#include "client/pointer.hpp"
#include "message/item_id.hpp"

namespace undertext {
namespace {

// Whether a text of the message begins so.
bool says(const Message& message, const std::vector<std::string>& beginnings) {
  if (beginnings.empty()) return false;
  const std::vector<ContentBlock> blocks = read_blocks(message);
  return std::any_of(blocks.begin(), blocks.end(), [&](const ContentBlock& block) {
    return block.kind == ContentBlock::Kind::text && begins_with_one_of(block.text, beginnings);
  });
}

bool holds(const Message& message, std::string_view type) {
  if (message.json().find(type) == std::string_view::npos) return false;
  const std::vector<ContentBlock> blocks = read_blocks(message);
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const ContentBlock& block) { return block.type == type; });
}

bool is_summary(const ClientProfile& client, const Message& message) {
  return (message.role() == Role::user && says(message, client.summary_texts)) ||
         holds(message, "compaction");
}

bool has_calls(const Message& message) {
  const std::vector<ContentBlock> blocks = read_blocks(message);
  return std::any_of(blocks.begin(), blocks.end(), [](const ContentBlock& block) {
    return block.kind == ContentBlock::Kind::call;
  });
}

// Whether the message is the answer to a question of the client's own that begins its list. A user
// may ask the same: that is in the conversation before it is answered, and nothing goes for it.
bool answers_summary_question(const ClientProfile& client, const std::vector<Message>& list,
                              std::size_t place) {
  if (client.summary_questions.empty() || place == 0) return false;
  const Message &question = list[place - 1], &answer = list[place];
  const auto is_system = [](const Message& each) { return each.role() == Role::system; };
  const auto asked = list.begin() + static_cast<std::ptrdiff_t>(place) - 1;
  if (!std::all_of(list.begin(), asked, is_system) || question.role() != Role::user ||
      answer.role() != Role::assistant || has_calls(answer))
    return false;
  const std::vector<ContentBlock> blocks = read_blocks(question);
  return blocks.size() == 1 && blocks[0].kind == ContentBlock::Kind::text &&
         std::find(client.summary_questions.begin(), client.summary_questions.end(),
                   blocks[0].text) != client.summary_questions.end();
}

// A conversation or a cache has the same name in all requests that use it: of these nothing tells
// one from the next.
std::uint64_t reference_to(std::string_view response) {
  return response.empty() ? 0 : std::max<std::uint64_t>(text_hash(response), 1);
}

class RequestReader {
 public:
  RequestReader(const ClientProfile& client, const ClientRequestHead& head)
      : client_(client), head_(head) {}

  Result<ClientRequest> read(std::optional<Dialect> dialect, std::string_view json,
                             const MessageLimits& limits) {
    const Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 8});
    if (!text) return text.error();
    const std::string kept =
        client_.is_given_view ? std::string(json) : without_markers(json, text->root());
    Result<std::vector<Message>> messages = messages_of(dialect, kept, limits);
    if (!messages) return messages.error();
    request_.reconcile = client_list(client_, *messages);
    for (const auto& [place, ordinal] : named_) request_.reconcile.list[place].ordinal = ordinal;
    if (dialect) request_.reconcile.dialect = name(*dialect);
    read_head();
    if (text->root().is(JsonType::object)) read_body(text->root());
    request_.kind = kind(text->root());
    return std::move(request_);
  }

 private:
  Result<std::vector<Message>> messages_of(std::optional<Dialect> dialect, const std::string& json,
                                           const MessageLimits& limits) {
    if (dialect) {
      Result<Imported> imported = import_messages(*dialect, json, limits);
      if (!imported) return imported.error();
      request_.rest = std::move(imported->rest);
      return std::move(imported->messages);
    }
    const Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 8});
    if (!text) return text.error();
    std::optional<JsonValue> list = text->root();
    if (list->is(JsonType::object)) list = list->find("messages");
    if (!list || !list->is(JsonType::array))
      return Error{ErrorCode::invalid_argument, "the request has no list of messages"};
    std::vector<Message> messages;
    for (const JsonValue element : list->elements()) {
      Result<Message> message = names_message(element, messages.size())
                                    ? some_message()
                                    : Message::parse(element.raw(), limits);
      if (!message) {
        Error error = message.error();
        const std::string at = "messages[" + std::to_string(messages.size()) + "]";
        const std::string inside = error.path.empty() ? error.field : error.path;
        error.path = inside.empty() ? at : at + "." + inside;
        return error;
      }
      messages.push_back(std::move(*message));
    }
    return messages;
  }

  // {"ordinal":7}: a message of the conversation.
  bool names_message(const JsonValue& element, std::size_t place) {
    if (!element.is(JsonType::object) || element.find("role")) return false;
    const std::optional<JsonValue> number = element.find("ordinal");
    const std::optional<std::uint64_t> ordinal =
        number && number->is(JsonType::number) ? number->uint64_saturated() : std::nullopt;
    if (ordinal) named_.emplace_back(place, *ordinal);
    return ordinal.has_value();
  }
  static const Message& some_message() {
    static const Message message =
        Message::make(Role::user, "a message of the conversation").value();
    return message;
  }

  std::string first_header(const std::vector<std::string>& names) const {
    for (const std::string& each : names)
      if (std::string value = head_.header(each); !value.empty()) return value;
    return {};
  }

  void read_head() {
    request_.session = first_header(client_.session_headers);
    request_.agent = first_header(client_.agent_headers);
    request_.asked_by = first_header(client_.asking_headers);
    for (const std::string& pointer : client_.parent_pointers)
      if (request_.parent.empty()) request_.parent = in_header(pointer);
  }

  void read_body(const JsonValue& body) {
    for (const std::string& pointer : client_.session_pointers)
      if (request_.session.empty()) request_.session = text_at(body, pointer);
    request_.previous_response = text_at(body, "/previous_response_id");
    request_.conversation = text_at(body, "/conversation");
    if (request_.conversation.empty()) request_.conversation = text_at(body, "/conversation/id");
    for (const std::string_view name : cached_content_names)
      if (request_.cached_content.empty())
        request_.cached_content = text_at(body, "/" + std::string(name));
    request_.reconcile.reference = reference_to(request_.previous_response);
    request_.reconcile.is_delta = !request_.previous_response.empty() ||
                                  !request_.conversation.empty() ||
                                  !request_.cached_content.empty();
  }

  // "header#/pointer"
  std::string in_header(std::string_view pointer) const {
    const std::size_t at = pointer.find('#');
    const std::string value = head_.header(pointer.substr(0, at));
    const Result<JsonText> text = JsonText::parse(value, {});
    return text ? text_at(text->root(), pointer.substr(at + 1)) : std::string();
  }

  // As opencode does it, which asks for the title of a session before its first turn, or at the
  // same time.
  bool asks_for_title() const {
    static const std::vector<std::string> beginnings = {"Generate a title for this conversation"};
    const std::vector<op::Reconcile::Sent>& list = request_.reconcile.list;
    const auto first = std::find_if(list.begin(), list.end(), [](const op::Reconcile::Sent& sent) {
      return sent.message.role() != Role::system;
    });
    const bool is_named = !head_.header("x-undertext-conversation").empty();
    return (is_named || !request_.session.empty()) && first != list.end() &&
           says(first->message, beginnings);
  }

  ClientRequestKind kind(const JsonValue& body) const {
    if (head_.path.find("/count_tokens") != std::string::npos ||
        head_.path.ends_with("/responses/input_tokens") ||
        head_.path.find(":countTokens") != std::string::npos)
      return ClientRequestKind::count_tokens;
    const std::vector<op::Reconcile::Sent>& list = request_.reconcile.list;
    if (in_header("x-codex-turn-metadata#/request_kind") == "compaction" ||
        head_.path.ends_with("/responses/compact") ||
        (!list.empty() && (says(list.back().message, client_.compaction_texts) ||
                           holds(list.back().message, "compaction_trigger"))))
      return ClientRequestKind::compaction;
    // A title is asked for without tools, in a form of its own or in certain words.
    const std::optional<JsonValue> tools = body.find("tools"), output = body.find("output_config");
    const bool has_form = !client_.agent_headers.empty() && output && output->find("format");
    const bool is_plain = !tools || tools->empty();
    return is_plain && (has_form || asks_for_title()) ? ClientRequestKind::side_request
                                                      : ClientRequestKind::turn;
  }

  const ClientProfile& client_;
  const ClientRequestHead& head_;
  ClientRequest request_;
  std::vector<std::pair<std::size_t, std::uint64_t>> named_;  // places in the list, and ordinals
};

}  // namespace

std::string ClientRequestHead::header(std::string_view wanted) const {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  for (const auto& [key, value] : headers)
    if (std::equal(key.begin(), key.end(), wanted.begin(), wanted.end(),
                   [&](char a, char b) { return lower(a) == lower(b); }))
      return value;
  return {};
}

std::string_view name(ClientRequestKind kind) {
  switch (kind) {
    case ClientRequestKind::turn: return "turn";
    case ClientRequestKind::compaction: return "compaction";
    case ClientRequestKind::side_request: return "side_request";
    case ClientRequestKind::count_tokens: return "count_tokens";
  }
  return "";
}

op::Reconcile client_list(const ClientProfile& client, const std::vector<Message>& messages) {
  op::Reconcile sent;
  sent.client = client.name;
  sent.volatile_parts = client.volatile_parts;
  sent.list.reserve(messages.size());
  sent.takes_view = client.is_given_view;
  for (std::size_t place = 0; place < messages.size(); ++place) {
    const Message& message = messages[place];
    const bool is_own_summary =
        !client.is_given_view &&
        (is_summary(client, message) || answers_summary_question(client, messages, place));
    std::string item = client.is_given_view ? std::string() : referenced_item(message);
    sent.list.push_back(
        {message, identity(message, client.volatile_parts), is_own_summary, {}, std::move(item)});
  }
  return sent;
}

Result<ClientRequest> read_client_request(const ClientProfile& client,
                                          std::optional<Dialect> dialect, std::string_view json,
                                          const MessageLimits& limits,
                                          const ClientRequestHead& head) {
  return RequestReader(client, head).read(dialect ? dialect : client.dialect, json, limits);
}

}  // namespace undertext
