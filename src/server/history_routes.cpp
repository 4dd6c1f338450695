// Versions in pages, a chart of all of them, and the rows of a view: for whoever looks at long
// conversations.
#include <algorithm>
#include <utility>

#include "json/answer_json.hpp"
#include "server/answer_text.hpp"
#include "server/app_rep.hpp"
#include "server/rows.hpp"

namespace undertext {
namespace {

using Type = Parameter::Type;

History newest(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  conversation->catch_up().value();
  return conversation->history().limited(call.work);
}

http::Reply with_etag(std::string body, Version version) {
  http::Reply reply = json_reply(std::move(body));
  reply.fields.push_back(etag(version));
  return reply;
}

http::Reply versions(App::Rep& app, const Call& call) {
  const History history = newest(app, call);
  const std::uint64_t first = history.first_version().value, end = history.version().value + 1;
  const std::uint64_t before = call.has("before") ? std::min(call.number("before"), end) : end;
  AnswerText out(app.room_for_answer(call), R"({"ok":true,"result":[)");
  std::uint64_t version = before;
  std::string piece;
  for (std::uint64_t left = call.number("limit"); left > 0 && version > first; --left, --version) {
    piece = version == before ? "" : ",";
    append_json(piece, history.version_info(Version(version - 1)));
    if (version != before && !out.fits(piece, page_bytes_max)) break;
    out.add(piece);
  }
  out.add(version > first ? R"(],"next":)" + std::to_string(version) + "}" : "]}");
  return with_etag(out.take(), history.version());
}

// What a chart needs of one version.
void append_point(std::string& out, const History& history, std::uint64_t version) {
  append_json(out, history.version_info(Version(version)));
  out.back() = ',';  // instead of the brace
  append_by_role(out, history.view_at(Version(version)).value().sums());
  out += '}';
}

http::Reply timeline(App::Rep& app, const Call& call) {
  const History history = newest(app, call);
  const std::uint64_t head = history.version().value;
  const std::uint64_t to = call.has("to") ? std::min(call.number("to"), head) : head;
  const std::uint64_t from =
      std::max(call.has("from") ? call.number("from") : 0, history.first_version().value);
  if (from > to)
    refuse(ErrorCode::invalid_argument, "from must not be behind to, or behind the head", "from");
  const std::uint64_t span = to - from, points = std::min(call.number("points"), span + 1);
  AnswerText out(app.room_for_answer(call), R"({"ok":true,"result":[)");
  std::string piece;
  for (std::uint64_t k = 0; k < points; ++k) {
    piece = k == 0 ? "" : ",";
    // Both ends are among them; versions are below 2^32, and points few, so that the product has
    // room.
    append_point(piece, history, points == 1 ? to : from + span * k / (points - 1));
    out.add(piece);
  }
  out.add("]}");
  return with_etag(out.take(), history.version());
}

constexpr std::uint64_t rows_max = 1000;

void append_range(AnswerText& out, const History& history, std::uint64_t start, std::uint64_t end) {
  const View view = history.view();
  end = std::min(end, view.size());
  start = std::min(start, end);
  std::uint64_t fits = end;
  const std::uint64_t bytes_max = std::min(page_bytes_max, out.bytes_max());
  while (fits > start + 1 && view.sums(start, fits).bytes > bytes_max)
    fits = start + (fits - start) / 2;
  out.expect(view.sums(start, fits).bytes);
  const MessageList list = history.messages({.start = start, .end = fits}).value();
  out.add(R"("rows":[)");
  std::string piece;
  for (std::uint64_t i = start; i < fits; ++i) {
    piece = i == start ? "" : ",";
    out.expect_reading(list.messages[i - start]);
    append_row(piece, history, view, {i, list.ordinals[i - start], list.messages[i - start]});
    if (i == start || out.fits(piece, page_bytes_max))
      out.add(piece);
    else
      fits = i;
  }
  out.add(fits < end ? R"(],"next":)" + std::to_string(fits) : "]");
}

void append_ordinals(AnswerText& out, const History& history,
                     const std::vector<std::uint64_t>& ordinals) {
  const View log = history.log();
  out.add(R"("rows":[)");
  std::string piece;
  std::size_t i = 0;
  for (; i < ordinals.size(); ++i) {
    if (ordinals[i] >= log.size())
      refuse(ErrorCode::not_found,
             "there is no message " + std::to_string(ordinals[i]) + " in the log", "ordinals");
    piece = i == 0 ? "" : ",";
    out.expect_reading(log[ordinals[i]]);
    append_row(piece, history, Ordinal(ordinals[i]));
    if (i > 0 && !out.fits(piece, page_bytes_max)) break;
    out.add(piece);
  }
  out.add(i < ordinals.size() ? R"(],"next":)" + std::to_string(i) : "]");
}

http::Reply rows(App::Rep& app, const Call& call) {
  const History now = newest(app, call);
  Result<History> then =
      call.has("atVersion") ? now.fork(Version(call.number("atVersion"))) : Result<History>(now);
  if (!then) {
    then.error().field = "atVersion";
    throw Failure(then.error());
  }
  AnswerText out(app.room_for_answer(call), R"({"ok":true,"result":{"version":)");
  out.add(std::to_string(then->version().value) + R"(,"count":)" +
          std::to_string(then->view().size()) + ",");
  if (call.has("ordinals")) {
    for (const char* other : {"start", "end"}) {
      if (call.has(other))
        refuse(ErrorCode::invalid_argument, "ordinals and places exclude each other", other);
    }
    append_ordinals(out, *then, call.numbers("ordinals"));
  } else {
    const std::uint64_t start = call.has("start") ? call.number("start") : 0;
    const std::uint64_t end =
        call.has("end") ? call.number("end") : start + std::min(rows_max, ~start);
    if (end < start || end - start > rows_max)
      refuse(ErrorCode::invalid_argument,
             "end must be at or behind start, and at most " + std::to_string(rows_max) + " apart",
             "end");
    append_range(out, *then, start, end);
  }
  out.add("}}");
  return with_etag(out.take(), now.version());
}

}  // namespace

std::vector<Route> history_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/history",
       .name = "getHistory",
       .what = "The versions, newest first.",
       .parameters = {conversation_id(),
                      {.name = "before",
                       .type = Type::integer,
                       .what = "Only versions below this one: the next of the answer before."},
                      {.name = "limit",
                       .type = Type::integer,
                       .what = "How many at most.",
                       .least = 1,
                       .most = 1000,
                       .otherwise = 100}},
       .answers = "HistoryPageAnswer",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return versions(app, call); })},
      {.method = "GET",
       .path = "/v1/conversations/{id}/timeline",
       .name = "getTimeline",
       .what = "What a chart needs: versions evenly spread, both ends among them, each with "
               "messages and tokens by role.",
       .parameters = {conversation_id(),
                      {.name = "points",
                       .type = Type::integer,
                       .what = "How many at most.",
                       .least = 2,
                       .most = 5000,
                       .otherwise = 500},
                      {.name = "from",
                       .type = Type::integer,
                       .what = "The first version (default: the oldest)."},
                      {.name = "to",
                       .type = Type::integer,
                       .what = "The last version (default: the head)."}},
       .answers = "TimelineAnswer",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return timeline(app, call); })},
      {.method = "GET",
       .path = "/v1/conversations/{id}/rows",
       .name = "getRows",
       .what = "Messages of the view with their metadata. A very large answer ends early, and next "
               "is the index at which to "
               "continue.",
       .parameters = {conversation_id(),
                      at_version(),
                      {.name = "start",
                       .type = Type::integer,
                       .what = "The first index of the view (default: 0)."},
                      {.name = "end",
                       .type = Type::integer,
                       .what = "The place behind the last one; at most 1000 behind start."},
                      {.name = "ordinals",
                       .type = Type::integers,
                       .what = "These messages of the log instead, in this order, hidden ones too. "
                               "next is then a place in this list.",
                       .most = rows_max}},
       .answers = "RowsAnswer",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return rows(app, call); })},
  };
}

}  // namespace undertext
