#include "gateway/recall_tools.hpp"

#include <algorithm>
#include <utility>

#include <undertext/blocks.hpp>
#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "gateway/recall_dialects.hpp"

namespace undertext {
namespace {

constexpr MessageLimits answer_limits = {};

std::string_view inside(std::string_view list) { return list.substr(1, list.size() - 2); }

// The text with more elements at the end of an array in it.
std::string with_elements(std::string_view text, const JsonValue& array,
                          std::string_view elements) {
  const std::uint64_t end = array.offset() + array.raw().size() - 1;
  std::string out(text.substr(0, end));
  if (!array.empty()) out += ',';
  out += elements;
  return out += text.substr(end);
}

// Behind the brace that opens the object.
std::string with_member(std::string_view text, const JsonValue& object, const std::string& member) {
  std::string out(text.substr(0, object.offset() + 1));
  out += member;
  if (!object.empty()) out += ',';
  return out += text.substr(object.offset() + 1);
}

bool names_context_tool(const JsonValue& tools) {
  for (const std::string_view name : {"context_search", "context_expand", "context_status"})
    if (tools.raw().find("\"" + std::string(name) + "\"") != std::string_view::npos) return true;
  return false;
}

void append_event(std::string& out, std::string_view name, std::string_view data) {
  if (!name.empty()) ((out += "event: ") += name) += '\n';
  for (;;) {
    const std::size_t end = data.find('\n');
    ((out += "data: ") += data.substr(0, end)) += '\n';
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  out += '\n';
}

// Models give arguments as an object, or as a string that holds one.
std::string object_text(const std::string& arguments_json) {
  const Result<JsonText> text = JsonText::parse(arguments_json, {});
  return text && text->root().is(JsonType::string) ? text->root().string() : arguments_json;
}

}  // namespace

struct RecallTurn::Rep {
  struct Event {
    std::string name, data;
  };

  Dialect dialect = Dialect::anthropic;
  std::unique_ptr<RecallDialect> knows;
  std::string request;

  // Of the answer that is being read.
  std::uint32_t answers = 0;
  ResponseForm form = ResponseForm::whole;
  std::optional<EventStream> events;
  std::optional<StreamAssembler> assembler;
  std::string whole;        // so far
  std::vector<Event> held;  // from the first call on
  std::size_t held_bytes = 0;
  bool holds = false;
  bool gave_up = false;  // it is too large: what is left of it goes to the client as it comes

  std::string said;               // what the model said in it
  std::vector<RecallCall> calls;  // of all tools that the client or the gateway runs
  std::string out;                // for the client, now

  void take_event(std::string_view name, std::string_view data);
  void pass(std::string_view name, std::string_view data);
  void read_calls();
  bool calls_own() const {
    return std::any_of(calls.begin(), calls.end(),
                       [](const RecallCall& call) { return is_context_tool(call.name); });
  }
};

std::optional<RecallTurn> RecallTurn::begin(Dialect dialect, std::string_view body) {
  const Result<JsonText> text = JsonText::parse(body, {});
  if (!text || !text->root().is(JsonType::object)) return {};
  const JsonValue root = text->root();
  auto rep = std::make_unique<Rep>();
  rep->dialect = dialect;
  rep->knows = RecallDialect::of(dialect);
  const std::optional<JsonValue> list = root.find(rep->knows->list_key());
  const bool may_be_text = dialect == Dialect::openai_responses;
  if (!list || !(list->is(JsonType::array) || (may_be_text && list->is(JsonType::string))))
    return {};
  if (!rep->knows->may_offer(root)) return {};
  const std::string offered = context_tools(dialect);
  const std::optional<JsonValue> tools = root.find("tools");
  if (!tools) {
    rep->request = with_member(body, root, "\"tools\":" + offered);
  } else {
    if (!tools->is(JsonType::array) || names_context_tool(*tools)) return {};
    rep->request = with_elements(body, *tools, inside(offered));
  }
  return RecallTurn(std::move(rep));
}

const std::string& RecallTurn::request() const { return rep_->request; }
std::uint32_t RecallTurn::answers() const { return rep_->answers; }

void RecallTurn::begin_answer(ResponseForm form) {
  Rep& rep = *rep_;
  ++rep.answers;
  rep.form = form;
  rep.events.emplace(held_bytes_max);
  rep.assembler.emplace(rep.dialect);
  rep.whole.clear();
  rep.held.clear();
  rep.calls.clear();
  rep.said.clear();
  rep.held_bytes = 0;
  rep.holds = false;
  rep.knows->begin_stream();
}

std::string RecallTurn::read(std::string_view bytes) {
  Rep& rep = *rep_;
  if (rep.gave_up) return std::string(bytes);
  if (rep.form == ResponseForm::whole) {
    rep.whole += bytes;
    if (rep.whole.size() <= held_bytes_max) return {};
    rep.gave_up = true;
    return std::exchange(rep.whole, {});
  }
  const bool is_readable =
      rep.events->read(bytes, [&rep](std::string_view name, std::string_view data) {
        rep.take_event(name, data);
        return true;
      });
  if (!is_readable || rep.held_bytes > held_bytes_max) {
    for (const Rep::Event& event : rep.held) rep.pass(event.name, event.data);
    rep.held.clear();
    rep.gave_up = true;
  }
  return std::exchange(rep.out, {});
}

void RecallTurn::Rep::take_event(std::string_view name, std::string_view data) {
  static_cast<void>(assembler->feed(data));  // what is no JSON says nothing
  if (!holds) {
    const Result<JsonText> event = JsonText::parse(data, {});
    holds = event && event->root().is(JsonType::object) && knows->is_call(event->root());
  }
  if (!holds) return pass(name, data);
  held_bytes += name.size() + data.size() + sizeof(Event);
  held.push_back({std::string(name), std::string(data)});
}

void RecallTurn::Rep::pass(std::string_view name, std::string_view data) {
  const Result<JsonText> event = JsonText::parse(data, {});
  if (!event || !event->root().is(JsonType::object)) return append_event(out, name, data);
  if (answers == 1) {
    knows->passed(event->root());
    return append_event(out, name, data);
  }
  if (const std::optional<std::string> changed = knows->passed_on(event->root()))
    append_event(out, name, *changed);
}

std::vector<RecallCall> RecallTurn::end_answer() {
  Rep& rep = *rep_;
  if (rep.gave_up) return {};
  rep.read_calls();
  if (rep.answers < answers_max && rep.calls_own()) {
    std::vector<RecallCall> own;
    for (const RecallCall& call : rep.calls)
      if (is_context_tool(call.name))
        own.push_back({call.id, call.name, object_text(call.arguments_json)});
    return own;
  }
  rep.calls.clear();
  return {};
}

void RecallTurn::Rep::read_calls() {
  if (form == ResponseForm::event_stream) {
    StreamAssembler::Streamed streamed = assembler->finish();
    if (!streamed.complete) return;
    said = std::move(streamed.message);
  } else {
    const Result<JsonText> text = JsonText::parse(whole, {});
    if (!text || !text->root().is(JsonType::object)) return;
    said = knows->said(text->root());
  }
  if (said.empty()) return;
  const Result<Imported> imported = import_messages(dialect, said, answer_limits);
  if (!imported) return;
  for (const Message& message : imported->messages)
    for (const ContentBlock& block : read_blocks(message))
      if (block.kind == ContentBlock::Kind::call && !block.by_provider)
        calls.push_back({block.call_id, block.name, block.arguments_json});
}

const std::string& RecallTurn::continued(const std::vector<ContextToolResult>& results) {
  Rep& rep = *rep_;
  std::vector<AnsweredCall> answered;
  std::size_t next = 0;
  for (const RecallCall& call : rep.calls) {
    if (is_context_tool(call.name) && next < results.size()) {
      answered.push_back({call.id, call.name, results[next].text, results[next].is_error});
      ++next;
    } else {
      answered.push_back({call.id, call.name,
                          "Not run: it was called beside a context tool, whose result is here. "
                          "Call it again if it is still needed.",
                          true});
    }
  }
  const JsonText said = JsonText::parse(rep.said, {}).value();
  if (rep.form == ResponseForm::whole) rep.knows->keep(said.root());
  const std::string elements = rep.knows->elements(said.root(), answered);
  const JsonText request = JsonText::parse(rep.request, {}).value();
  const JsonValue list = *request.root().find(rep.knows->list_key());
  if (list.is(JsonType::array)) {
    rep.request = with_elements(rep.request, list, elements);
  } else {
    std::string made = rep.request.substr(0, list.offset());
    made += R"([{"role":"user","content":)" + std::string(list.raw()) + "}," + elements + "]";
    rep.request = made + rep.request.substr(list.offset() + list.raw().size());
  }
  return rep.request;
}

std::string RecallTurn::rest() {
  Rep& rep = *rep_;
  if (rep.gave_up) return {};
  if (rep.form == ResponseForm::event_stream) {
    for (const Rep::Event& event : std::exchange(rep.held, {})) rep.pass(event.name, event.data);
    return std::exchange(rep.out, {});
  }
  const std::string whole = std::exchange(rep.whole, {});
  if (rep.answers == 1) return whole;
  const Result<JsonText> text = JsonText::parse(whole, {});
  return text && text->root().is(JsonType::object) ? rep.knows->joined(text->root()) : whole;
}

RecallTurn::RecallTurn(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
RecallTurn::RecallTurn(RecallTurn&&) noexcept = default;
RecallTurn& RecallTurn::operator=(RecallTurn&&) noexcept = default;
RecallTurn::~RecallTurn() = default;

}  // namespace undertext
