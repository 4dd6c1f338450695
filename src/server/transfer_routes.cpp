// Conversations with their history as lines, out and in.
#include <utility>

#include "base/json_text.hpp"
#include "server/app_rep.hpp"
#include "server/outside_settings.hpp"
#include "transfer/export.hpp"
#include "transfer/export_lines.hpp"
#include "transfer/import.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t import_bytes_max = std::uint64_t{256} << 20;
constexpr std::size_t piece_bytes = 1 << 16;

// Thrown where the client has gone, or may read no more: there is nobody to tell.
struct ClientGone {};

// Lines for a client, in pieces. Answers only with the first line, so that what fails before can
// still be an answer of its own.
class LinesOut {
 public:
  LinesOut(http::Exchange& exchange, std::string id, std::function<bool()> goes_on)
      : exchange_(exchange), id_(std::move(id)), goes_on_(std::move(goes_on)) {}

  void add(std::string_view line) {
    if (!stream_)
      stream_ =
          exchange_.stream(200, "application/x-ndjson",
                           {{"Content-Disposition", "attachment; filename=\"" + id_ + ".jsonl\""},
                            {"Cache-Control", "no-store"}});
    (piece_ += line) += '\n';
    if (piece_.size() >= piece_bytes) send();
  }
  bool began() const { return stream_ != nullptr; }
  void end() {
    send();
    stream_->end();
  }

 private:
  void send() {
    if (!goes_on_() || !stream_->write(std::exchange(piece_, {}), goes_on_)) throw ClientGone();
  }
  http::Exchange& exchange_;
  std::string id_;
  std::function<bool()> goes_on_;
  std::shared_ptr<http::Stream> stream_;
  std::string piece_;
};

void export_lines(App::Rep& app, const Call& call) {
  const auto is_allowed = [&] {
    return !app.options.still_allowed || app.options.still_allowed(call.caller);
  };
  LinesOut out(*call.exchange, *call.find("id"), is_allowed);
  try {
    const std::shared_ptr<Conversation> conversation = app.conversation(call);
    conversation->catch_up().value();
    const std::optional<Error> error =
        export_conversation(*app.store(call), *conversation,
                            {.write = [&](std::string_view line) { out.add(line); },
                             .progress = {},
                             .settings = exported_settings});
    if (error) throw Failure(*error);
    out.end();
  } catch (const ClientGone&) {
  } catch (const Failure&) {
    // Where some lines are gone already, the connection is cut instead, and nobody takes them for
    // the whole.
    if (!out.began()) throw;
  }
}

void export_bounded(App::Rep& app, const Call& call) {
  const std::optional<TenantCounts::Slot> slot = app.exports.take(call.caller.tenant);
  if (slot) return export_lines(app, call);
  call.exchange->answer(
      error_reply({ErrorCode::unavailable, "there are too many exports under way already"}));
}

LineSource lines_of(std::string_view text, std::shared_ptr<Work> work = {}) {
  return [text, work = std::move(work)]() mutable -> std::optional<std::string_view> {
    if (work) work->go_on();
    if (text.empty()) return {};
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
}

// Settings in an export are whoever's wrote it.
void check_header(std::string_view text) {
  const std::optional<std::string_view> line = lines_of(text)();
  if (!line || !is_export_header(*line))
    refuse(ErrorCode::invalid_argument, "the first line must be that of an export");
  const ExportLine read = read_export_line(*line, {}).value();
  const ExportHeader& header = std::get<ExportHeader>(read);
  outside_settings(header.note);
  check_outside_tokenizer(header.tokenizer);
}

// Nothing that is stored is damaged when lines do not come out as they say: what was sent is.
Error told_to_sender(Error error) {
  if (error.code == ErrorCode::corrupt && error.field == "lines")
    error.code = ErrorCode::invalid_argument;
  return error;
}

http::Reply imported_reply(const std::string& id, const ImportedConversation& imported) {
  std::string out = R"({"ok":true,"result":{"id":)";
  append_json_string(out, id);
  out += R"(,"versions":)" + std::to_string(imported.versions) + R"(,"messages":)" +
         std::to_string(imported.messages) + "}}";
  http::Reply reply = json_reply(std::move(out), 201);
  reply.fields.push_back({"Location", "/v1/conversations/" + id});
  return reply;
}

http::Reply import_lines(const App::Rep& app, const Call& call) {
  const std::string& id = *call.find("id");
  const std::shared_ptr<Store> store = app.store(call);
  check_header(call.request.body);
  const auto reply_of_import = [&](const Result<ImportedConversation>& done) {
    if (!done) throw Failure(told_to_sender(done.error()));
    return imported_reply(id, *done);
  };
  return make_once(
      *store, call,
      {.what = "import " + id,
       .id = id,
       .make =
           [&](const std::string&, const std::string& mark) {
             return reply_of_import(import_conversation(
                 store, id, lines_of(call.request.body, call.work), {.made_by = mark}));
           },
       .again =
           [&](const ConversationRecord&) {
             return reply_of_import(check_export(lines_of(call.request.body, call.work)));
           }});
}

}  // namespace

std::vector<Route> transfer_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/export",
       .name = "exportConversation",
       .what = "The conversation with its whole history, as JSON Lines.",
       .parameters = {conversation_id()},
       .reply_type = "application/x-ndjson",
       .handle = [&app](const Call& call) { export_bounded(app, call); }},
      {.method = "POST",
       .path = "/v1/imports",
       .right = Right::write,
       .name = "importConversation",
       .what = "Makes a conversation of such lines, with its history.",
       .parameters = {{.name = "id",
                       .type = Parameter::Type::id,
                       .required = true,
                       .what = "The id of the new conversation."},
                      idempotency_key()},
       .body = Body::lines,
       .answers = "ImportedAnswer",
       .reply_fields = {"Location"},
       .good_status = 201,
       .body_bytes_max = import_bytes_max,
       .handle = replying([&app](const Call& call) { return import_lines(app, call); })},
  };
}

}  // namespace undertext
