// Requests and responses of providers as messages.
#include "dialect/import.hpp"

#include <utility>

#include <undertext/dialect.hpp>

#include "base/answering_failure.hpp"
#include "dialect/render.hpp"
#include "dialect/request_body.hpp"
#include "dialect/request_draft.hpp"
#include "dialect/rules.hpp"
#include "dialect/tool_names.hpp"
#include "message/item_id.hpp"
#include "message/item_types.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

Error bad(std::string path, std::string message) {
  return {
      .code = ErrorCode::invalid_argument, .message = std::move(message), .path = std::move(path)};
}

struct FieldNames {
  std::string_view list;
  std::string_view top;
};
FieldNames names_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::openai_responses: return {"input", "instructions"};
    case Dialect::anthropic: return {"messages", "system"};
    case Dialect::gemini: return {"contents", "systemInstruction"};
    case Dialect::openai_chat: break;
  }
  return {"messages", ""};
}

// Where the message stands in a response of the provider.
void find_in_response(Dialect dialect, const JsonValue& root, RequestBody& body) {
  if (dialect == Dialect::openai_chat) {
    const std::optional<JsonValue> choices = root.find("choices");
    if (!choices || !choices->is(JsonType::array) || choices->empty()) return;
    if (const std::optional<JsonValue> message = (*choices->elements().begin()).find("message"))
      body.one = *message;
    body.candidates = choices->count();
  } else if (dialect == Dialect::gemini) {
    const std::optional<JsonValue> candidates = root.find("candidates");
    if (!candidates || !candidates->is(JsonType::array) || candidates->empty()) return;
    if (const std::optional<JsonValue> content = (*candidates->elements().begin()).find("content"))
      body.one = *content;
    body.candidates = candidates->count();
  } else if (dialect == Dialect::openai_responses) {
    if (const std::optional<JsonValue> output = root.find("output");
        output && output->is(JsonType::array) && !item_type(body_of(root, "type")))
      body.list = *output;
  } else if (root.find("stop_reason") && root.find("content")) {
    body.one = root;
    body.is_response = true;
  }
}

bool is_single(Dialect dialect, const JsonValue& root) {
  switch (dialect) {
    case Dialect::gemini: return root.find("parts").has_value();
    case Dialect::openai_responses:
      return root.find("type").has_value() || root.find("role").has_value();
    default: return root.find("role").has_value();
  }
}

// Of Responses: what is asked stands in a prompt, or in what came before. A response and a request
// of Chat name a model too.
bool asks_without_input(const JsonValue& root) {
  if (root.find("object") || root.find("messages")) return false;
  for (const std::string_view name : {"model", "prompt", "conversation", "previous_response_id"})
    if (const std::optional<JsonValue> value = root.find(name); value && !value->is(JsonType::null))
      return true;
  return false;
}

// What stands beside the list.
std::optional<Error> read_rest(Dialect dialect, const JsonValue& root, RequestBody& body) {
  const FieldNames names = names_of(dialect);
  body.rest = "{";
  for (const JsonMember member : root.members()) {
    if (member.key.string_is(names.list)) continue;
    const bool is_top = (!names.top.empty() && member.key.string_is(names.top)) ||
                        (dialect == Dialect::gemini && member.key.string_is("system_instruction"));
    if (is_top && member.value.is(JsonType::string) && member.value.string_raw().empty()) continue;
    if (is_top && !member.value.is(JsonType::null)) {
      // Under both names of Gemini's; which of them the provider takes is not for us to say.
      if (body.top && dialect == Dialect::gemini)
        return bad(std::string(names.top), std::string(names.top) + " is there twice");
      const bool is_fit = member.value.is(JsonType::string) ||
                          (dialect == Dialect::gemini ? member.value.is(JsonType::object)
                                                      : member.value.is(JsonType::array));
      if (!is_fit)
        return bad(std::string(names.top), std::string(names.top) + " is of the wrong type");
      body.top = member.value;
      continue;
    }
    if (body.rest.size() > 1) body.rest += ',';
    body.rest += member.key.raw();
    body.rest += ':';
    body.rest += member.value.raw();
  }
  body.rest += '}';
  return std::nullopt;
}

}  // namespace

std::vector<JsonValue> listed_in(const RequestBody& body) {
  std::vector<JsonValue> elements;
  if (body.list)
    for_each_listed(*body.list, [&](const JsonValue& element) { elements.push_back(element); });
  return elements;
}

Result<RequestBody> read_body(Dialect dialect, const JsonValue& root) {
  RequestBody body;
  if (root.is(JsonType::array)) {
    body.list = root;
    return body;
  }
  if (!root.is(JsonType::object))
    return bad("", "expected a request body, an array of messages, or a message");
  const FieldNames names = names_of(dialect);
  std::optional<JsonValue> list = root.find(names.list);
  if (dialect == Dialect::openai_responses && list && list->is(JsonType::null)) list.reset();
  if (!list) {
    find_in_response(dialect, root, body);
    if (!body.one && !body.list && is_single(dialect, root)) body.one = root;
    const bool is_found = body.one || body.list;
    if (!is_found && dialect == Dialect::openai_responses && asks_without_input(root)) {
      if (std::optional<Error> error = read_rest(dialect, root, body)) return std::move(*error);
      return body;
    }
    if (!is_found)
      return bad(std::string(names.list), "the body has no " + std::string(names.list) +
                                              ", and is no response of this dialect either");
    if (body.one && !body.one->is(JsonType::object))
      return bad("", "the message must be an object");
    return body;
  }
  const bool is_text = dialect == Dialect::openai_responses && list->is(JsonType::string);
  const bool is_only_one = dialect == Dialect::gemini && list->is(JsonType::object);
  if (!is_text && !is_only_one && !list->is(JsonType::array))
    return bad(std::string(names.list), std::string(names.list) + " must be an array");
  body.list = *list;
  if (std::optional<Error> error = read_rest(dialect, root, body)) return std::move(*error);
  return body;
}

namespace {

class Importer {
 public:
  Importer(Dialect dialect, const MessageLimits& limits, const ToolNames& names)
      : dialect_(dialect), limits_(limits), names_(names) {}

  std::optional<Error> add_top(const JsonValue& value) {
    if (dialect_ == Dialect::gemini && value.is(JsonType::object))
      if (std::optional<Error> error = check_parts(value, std::string(names_of(dialect_).top)))
        return error;
    arena_.limit_blocks(blocks_max(limits_));
    const Turn turn = read_top(dialect_, value.raw(), arena_);
    if (arena_.is_over()) return too_many_blocks(limits_);
    // Anthropic's instructions are a message's content as they are, if the engine knows everything
    // in them.
    if (dialect_ == Dialect::anthropic) {
      const std::string as_is = R"({"role":"system","content":)" + std::string(value.raw()) + '}';
      if (stands_as_it_is(as_is)) return add_message(as_is);
    }
    return add_message(enveloped(turn, dialect_, value.raw(), names_of(dialect_).top));
  }

  std::optional<Error> add(const JsonValue& value, bool is_response) {
    if (!value.is(JsonType::object))
      return bad(path(), "must be an object, not " + std::string(name(value.type())));
    if (is_response) {  // of Anthropic: only these two go back
      const std::string message =
          R"({"role":"assistant","content":)" + std::string(value.find("content")->raw()) + '}';
      return add_restored(message);
    }
    return names_.empty() ? add_raw(value) : add_restored(value.raw());
  }

  std::vector<Message> take() { return std::move(messages_); }
  void continue_ids(std::uint64_t made) { ids_.next = made; }
  std::size_t count() const { return messages_.size(); }

 private:
  std::string path() const {
    return std::string(names_of(dialect_).list) + "[" + std::to_string(at_) + "]";
  }

  std::optional<Error> add_restored(std::string_view sent) {
    // Ids of calls that are still to be answered are kept as views.
    const std::string_view message = arena_.keep(with_own_tool_names(dialect_, sent, names_));
    const Result<JsonText> text = JsonText::parse(message, {.depth = limits_.depth + 8});
    if (!text) return text.error();
    return add_raw(text->root());
  }

  std::optional<Error> add_raw(const JsonValue& value) {
    if (const std::optional<Error> error = check_shape(value)) return error;
    ToolIds unused;
    // Before the first turn, Anthropic's system messages are what `system` holds; one that stood in
    // the list must be told from those.
    const bool leads =
        dialect_ == Dialect::anthropic && only_system_ && body_of(value, "role") == "system";
    only_system_ = leads;
    arena_.limit_blocks(blocks_max(limits_));
    if (dialect_ != Dialect::gemini && !leads &&
        (read_message(value, std::nullopt, arena_, unused).native & bit(dialect_)) != 0) {
      if (Result<Message> message = Message::parse(value.raw(), limits_)) {
        ++at_;
        messages_.push_back(std::move(*message));
        return std::nullopt;
      }
    }
    ids_.given.clear();
    arena_.limit_blocks(blocks_max(limits_));
    const Turn turn = read_in(dialect_, value, arena_, ids_);
    if (arena_.is_over()) return placed(too_many_blocks(limits_));
    std::optional<Error> error = add_message(enveloped(turn, dialect_, value.raw(), {}));
    ++at_;
    return error;
  }

  static std::optional<Error> check_parts(const JsonValue& content, const std::string& place) {
    const std::optional<JsonValue> parts = content.find("parts");
    const bool is_fit = !parts || parts->is(JsonType::array) || parts->is(JsonType::object) ||
                        parts->is(JsonType::null);
    if (is_fit) return std::nullopt;
    return bad(place + ".parts", "parts must be an array, or an object for an array of one");
  }

  std::optional<Error> check_shape(const JsonValue& value) const {
    if (dialect_ == Dialect::gemini) return check_parts(value, path());
    const std::optional<JsonValue> role = value.find("role");
    if (!role && dialect_ == Dialect::openai_responses &&
        (string_of(value, "type") || is_item_reference(value)))
      return std::nullopt;
    if (!role || !role->is(JsonType::string))
      return bad(path() + ".role", "a message needs a role");
    const bool known = is_one_of(*role, {"system", "user", "assistant"}) ||
                       (dialect_ != Dialect::anthropic && role->string_is("developer")) ||
                       (dialect_ == Dialect::openai_chat && is_one_of(*role, {"tool", "function"}));
    if (!known) return bad(path() + ".role", "this dialect has no such role");
    return std::nullopt;
  }

  bool stands_as_it_is(std::string_view json) {
    const Result<JsonText> text = JsonText::parse(json, {.depth = limits_.depth + 8});
    ToolIds unused;
    return text &&
           (read_message(text->root(), std::nullopt, arena_, unused).native & bit(dialect_)) != 0 &&
           Message::parse(json, limits_);
  }

  std::optional<Error> add_message(std::string_view json) {
    Result<Message> message = Message::parse(json, limits_);
    if (!message) return placed(std::move(message.error()));
    messages_.push_back(std::move(*message));
    return std::nullopt;
  }

  Error placed(Error error) const {
    error.path = error.path.empty() ? path() : path() + "." + error.path;
    return error;
  }

  Dialect dialect_;
  MessageLimits limits_;
  const ToolNames& names_;
  Arena arena_;
  ToolIds ids_;
  std::size_t at_ = 0;
  bool only_system_ = true;
  std::vector<Message> messages_;
};

std::optional<Error> add_all(Importer& importer, const RequestBody& body, std::size_t skip,
                             bool skip_top) {
  if (body.top && !skip_top)
    if (std::optional<Error> error = importer.add_top(*body.top)) return error;
  if (body.one) return importer.add(*body.one, body.is_response);
  if (!body.list) return std::nullopt;
  if (body.list->is(JsonType::string)) {
    const std::string message =
        R"({"role":"user","content":)" + std::string(body.list->raw()) + '}';
    const Result<JsonText> text = JsonText::parse(message, {});
    return importer.add(text->root(), false);
  }
  std::size_t at = 0;
  for (const JsonValue& element : listed_in(body))
    if (at++ >= skip)
      if (std::optional<Error> error = importer.add(element, false)) return error;
  return std::nullopt;
}

Result<Imported> import_body(Dialect dialect, const RequestBody& body, const MessageLimits& limits,
                             const ToolNames& names, std::uint64_t made_ids) {
  Importer importer(dialect, limits, names);
  importer.continue_ids(made_ids);
  if (std::optional<Error> error = add_all(importer, body, 0, false)) return std::move(*error);
  return Imported{importer.take(), body.rest, 0};
}

}  // namespace

Result<Imported> import_numbered(Dialect dialect, std::string_view json,
                                 const MessageLimits& limits, const ToolNames& names,
                                 std::uint64_t made_ids) {
  Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 8});
  if (!text) return std::move(text.error());
  const Result<RequestBody> body = read_body(dialect, text->root());
  if (!body) return body.error();
  return import_body(dialect, *body, limits, names, made_ids);
}

Result<Imported> import_messages(Dialect dialect, std::string_view json,
                                 const MessageLimits& limits, const ToolNames& names) {
  Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 8});
  if (!text) return std::move(text.error());
  const Result<RequestBody> body = read_body(dialect, text->root());
  if (!body) return body.error();
  if (body->candidates > 1) {
    const std::string list = dialect == Dialect::gemini ? "candidates" : "choices";
    return Error{ErrorCode::invalid_argument,
                 "the response has " + std::to_string(body->candidates) + " " + list +
                     ": import the message of the one that the conversation goes on with",
                 list};
  }
  return import_body(dialect, *body, limits, names, 0);
}

namespace {

// Whether both say the same. Clients write anew what they were given: with other white space, other
// escapes, other order.
bool is_same(const JsonValue& a, const JsonValue& b) {
  if (a.type() != b.type()) return false;
  if (a.is(JsonType::string)) return a.raw() == b.raw() || a.string() == b.string();
  if (!a.is(JsonType::array) && !a.is(JsonType::object)) return a.raw() == b.raw();
  const std::size_t count = a.count();
  if (count != b.count()) return false;
  if (a.is(JsonType::array)) {
    auto other = b.elements().begin();
    for (const JsonValue element : a.elements()) {
      if (!is_same(element, *other)) return false;
      ++other;
    }
    return true;
  }
  constexpr std::size_t sought_max = 64;  // more members than that are compared in their order only
  auto other = b.members().begin();
  for (const JsonMember member : a.members()) {
    const JsonMember next = *other;
    ++other;
    const std::string key = member.key.string();
    if (next.key.string() == key) {
      if (!is_same(member.value, next.value)) return false;
      continue;
    }
    const std::optional<JsonValue> sought = count <= sought_max ? b.find(key) : std::nullopt;
    if (!sought || !is_same(member.value, *sought)) return false;
  }
  return true;
}

}  // namespace

Result<Imported> import_after(const View& view, const Profile& profile, std::string_view json,
                              const MessageLimits& limits, const ToolNames& names) {
  return answering_failure([&]() -> Result<Imported> {
    Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 8});
    if (!text) return std::move(text.error());
    Result<RequestBody> body = read_body(profile.dialect, text->root());
    if (!body) return std::move(body.error());

    Arena arena;
    RequestDraft draft = adapted(read_view(view, arena), profile, arena);
    Result<RequestFacts> facts = read_request_facts(body->rest, profile);
    if (!facts) return std::move(facts.error());
    Repair{draft, profile, *facts, arena}.run();

    Imported imported;
    std::size_t same = 0;
    bool top_is_same = draft.top.empty() && !body->top;
    if (!draft.top.empty() && body->top) {
      RequestDraft only_top;
      only_top.top = draft.top;
      const std::string bytes = request_json(profile.dialect, only_top);
      const Result<JsonText> rendered = JsonText::parse(bytes, {.depth = limits.depth + 8});
      const std::optional<JsonValue> top =
          rendered ? rendered->root().find(names_of(profile.dialect).top) : std::nullopt;
      top_is_same = top && is_same(*top, *body->top);
    }
    if (top_is_same) {
      std::string bytes;
      for (const JsonValue& element : listed_in(*body)) {
        if (same == draft.turns.size()) break;
        bytes.clear();
        append_turn(bytes, profile.dialect, draft.turns[same]);
        if (bytes != element.raw()) {
          const Result<JsonText> rendered = JsonText::parse(bytes, {.depth = limits.depth + 8});
          if (!rendered || !is_same(rendered->root(), element)) break;
        }
        ++same;
      }
    }
    // A message of the view is known when all turns that it is part of are.
    if (top_is_same) {
      imported.known = view.size();
      for (std::size_t i = same; i < draft.turns.size(); ++i)
        if (draft.turns[i].source != no_source)
          imported.known = std::min(imported.known, draft.turns[i].source);
      // A turn that holds the beginning of what is not known is not known either.
      while (same > 0 && draft.turns[same - 1].source != no_source &&
             draft.turns[same - 1].source >= imported.known)
        --same;
    }
    ToolNames known = names;
    known.insert(draft.tool_names.begin(), draft.tool_names.end());
    Importer importer(profile.dialect, limits, known);
    if (std::optional<Error> error = add_all(importer, *body, same, top_is_same))
      return std::move(*error);
    imported.messages = importer.take();
    imported.rest = std::move(body->rest);
    return imported;
  });
}

Result<std::vector<Finding>> validate_request(std::string_view json, const Profile& profile) {
  Result<JsonText> text = JsonText::parse(json, {.depth = 512});
  if (!text) return std::move(text.error());
  Result<RequestBody> body = read_body(profile.dialect, text->root());
  if (!body) return std::move(body.error());
  Result<RequestFacts> facts = read_request_facts(body->rest, profile);
  if (!facts) return std::move(facts.error());
  Arena arena;
  RequestDraft draft;
  ToolIds ids;
  if (body->top) draft.top.push_back(read_top(profile.dialect, body->top->raw(), arena));
  const auto add = [&](const JsonValue& value) -> std::optional<Error> {
    if (!value.is(JsonType::object))
      return bad("[" + std::to_string(draft.turns.size()) + "]", "a message must be an object");
    draft.turns.push_back(read_in(profile.dialect, value, arena, ids));
    draft.turns.back().source = draft.turns.size() - 1;
    return std::nullopt;
  };
  if (body->one)
    if (std::optional<Error> error = add(*body->one)) return std::move(*error);
  for (const JsonValue& element : listed_in(*body))
    if (std::optional<Error> error = add(element)) return std::move(*error);
  return public_findings(check(draft, profile, *facts), draft, profile.dialect, nullptr);
}

}  // namespace undertext
