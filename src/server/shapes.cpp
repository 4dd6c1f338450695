#include "server/shapes.hpp"

#include <algorithm>
#include <utility>

#include "json/query_json.hpp"
#include "json/schema_json.hpp"
#include "store/fresh_id.hpp"

namespace undertext {
namespace {

void read_id(Fields& fields, std::string& id) {
  fields.take("id", id, {"Of the new conversation. Default: one that is made up.", "Id"});
  if (fields.has("id") && !is_conversation_id(id))
    fields.fail("id", "must be 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot");
}

// Another shape with one member changed.
Shape with_member(Shape shape, std::string name, std::string_view member, const auto& change) {
  shape.name = std::move(name);
  shape.example.clear();
  change(*std::ranges::find_if(shape.members,
                               [&](const Member& each) { return each.name == member; }));
  return shape;
}

Shape with_optional(const Shapes& shapes, std::string_view of, std::string name,
                    std::string_view member) {
  return with_member(shapes.at(of), std::move(name), member,
                     [](Member& each) { each.required = false; });
}

void add_answer(Shapes& shapes, std::string_view name, std::string_view result) {
  shapes.add(answer_shape(name, "", {{"ok", "true"}, {"result", result}}));
}

// An answer with the members of another shape and more.
void add_extended(Shapes& shapes, std::string_view name, std::string_view text, std::string_view of,
                  std::initializer_list<AnswerMember> more) {
  Shape shape = answer_shape(name, text, more);
  const std::vector<Member>& first = shapes.at(of).members;
  shape.members.insert(shape.members.begin(), first.begin(), first.end());
  shapes.add(std::move(shape));
}

void describe_bodies(Shapes& shapes) {
  shapes.add({.name = "Id",
              .text = "Of a conversation.",
              .type = "string",
              .pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"});
  Shape settings = shapes.at("Settings");
  std::erase_if(settings.members, [](const Member& member) {
    return member.name == "summarisers" || member.name == "embeddings";
  });
  settings.name = "NewSettings";
  settings.text =
      "The settings of a new conversation; summarisers and embeddings are for who runs the server.";
  shapes.add(std::move(settings));
  using Read = void (*)(Fields&, NewConversationBody&);
  const std::pair<const char*, Read> bodies[] = {{"NewConversation", read_new_conversation},
                                                 {"NewFork", read_new_fork}};
  for (const auto& [name, read] : bodies) {
    Shape shape{.name = name};
    Reading reading;
    Fields fields(shape, shapes, reading);
    NewConversationBody made;
    read(fields, made);
    shapes.add(std::move(shape));
  }
  for (const std::string_view query :
       {"callTool", "cost", "countTools", "fit", "importMessages", "render", "validate", "whatIf"})
    shapes.add(with_optional(shapes, query_shape(query), query_request(query), "query"));
  shapes.add(with_optional(shapes, "CompressByStrategy", "CompressionRequest", "operation"));
  shapes.add({.name = "OperationRequest",
              .text = "An operation, or a list of which all or none happens.",
              .type = "AnyOperation|AnyOperation[+]"});
}

void describe_conversations(Shapes& shapes) {
  shapes.add(answer_shape("Reference", "A version of a conversation.",
                          {{"id", "string"}, {"version", "integer"}}));
  shapes.add(answer_shape("ReportedTokens",
                          "Tokens of all requests of a session, as its provider reported them.",
                          {{"input", "integer", "Without what was read from a cache."},
                           {"output", "integer"},
                           {"cacheRead", "integer"},
                           {"cacheWrite", "integer"}}));
  shapes.add(answer_shape("ConversationAbout",
                          "What the program says of a session, before it is opened.",
                          {{"client", "string", "The program."},
                           {"title", "string"},
                           {"project", "string", "Its folder."},
                           {"model", "string", "That answered last."},
                           {"startedAt", "signed", "Milliseconds since 1970."},
                           {"updatedAt", "signed", "Milliseconds since 1970."},
                           {"tokens", "ReportedTokens"},
                           {"cost", "number", "US dollars."}}));
  shapes.add(answer_shape(
      "ListedConversation", "A conversation as lists have it.",
      {{"id", "string"},
       {"version", "integer", "The head."},
       {"totalMessages", "integer", "In the log."},
       {"createdAt", "signed", "Milliseconds since 1970."},
       {"updatedAt", "signed", "Milliseconds since 1970."},
       {"firstVersion?", "integer", "The oldest that is kept, where some were pruned."},
       {"origin?", "Reference", "What it was forked from."},
       {"about?", "ConversationAbout", "Of undertext open."}}));
  shapes.add(answer_shape("ConversationList", "",
                          {{"conversations", "ListedConversation[]"},
                           {"next?", "string", "What to give as after; absent at the end."}}));
  Shape shown =
      with_member(shapes.at("Settings"), "ShownSettings", "summarisers", [](Member& member) {
        member.type = "string[]";
        member.text = "Their names.";
      });
  shapes.add(answer_shape("ShownEmbeddings", "What ranks by embeddings.",
                          {{"model?", "string", "The model that is asked."}}));
  shown = with_member(std::move(shown), "ShownSettings", "embeddings",
                      [](Member& member) { member.type = "ShownEmbeddings"; });
  shapes.add(std::move(shown));
  add_extended(shapes, "Conversation", "What is known of a conversation as a whole.",
               "ListedConversation",
               {{"stats", "Stats"},
                {"tokenizer", "string"},
                {"exact", "boolean", "Every part of the count is."},
                {"model", "Model"},
                {"settings", "ShownSettings"},
                {"forks", "Reference[]", "The first hundred."}});
  shapes.add(answer_shape("Purged", "", {{"purged", "string", "The id."}}));
  shapes.add(answer_shape("ImportedConversation", "",
                          {{"id", "string"}, {"versions", "integer"}, {"messages", "integer"}}));
  add_answer(shapes, "ConversationListAnswer", "ConversationList");
  add_answer(shapes, "StoreLedgerAnswer", "LedgerRow[]");
  add_answer(shapes, "ConversationAnswer", "Conversation");
  add_answer(shapes, "NewConversationAnswer", "Reference");
  add_answer(shapes, "PurgedAnswer", "Purged");
  add_answer(shapes, "ImportedAnswer", "ImportedConversation");
}

void describe_store_recall(Shapes& shapes) {
  shapes.add(answer_shape("StoreFound", "A message that was found in some conversation.",
                          {{"conversation", "string", "Its id."},
                           {"ordinal", "integer", "In the log."},
                           {"score", "number", "Comparable within one answer only."},
                           {"message", "Message"}}));
  shapes.add(answer_shape(
      "UnreadFound", "A conversation that was not opened yet, and that has the words.",
      {{"conversation", "string", "Its id."}, {"excerpt", "string", "Around one of the words."}}));
  shapes.add(answer_shape(
      "StoreRecalled", "What a search over all conversations found.",
      {{"found", "StoreFound[]", "Best first."},
       {"unread?", "UnreadFound[]",
        "Of undertext open: sessions that were not read yet, the newest first."},
       {"conversations", "integer", "That were searched."},
       {"leftOut?", "integer",
        "Conversations for which the index had no room: those changed least recently."}}));
  add_answer(shapes, "StoreRecalledAnswer", "StoreRecalled");
}

void describe_history(Shapes& shapes) {
  shapes.add(answer_shape("Row", "A message with what is known of it.",
                          {{"change?", R"("removed"|"added")", "Of a preview."},
                           {"index", "integer|null", "In the view; null: hidden."},
                           {"ordinal", "integer", "In the log."},
                           {"time", "signed", "Milliseconds since 1970."},
                           {"tokens", "integer"},
                           {"marks", "string[]"},
                           {"standsFor", "integer[]", "Ordinals; the first thousand."},
                           {"standsForCount?", "integer", "Where there are more."},
                           {"role", "Role"},
                           {"blocks", "Block[]"},
                           {"message", "Message"}}));
  shapes.add(answer_shape(
      "Rows", "",
      {{"version", "integer"},
       {"count", "integer", "Messages of the view."},
       {"rows", "Row[]"},
       {"next?", "integer", "Where to go on, when there was more than an answer holds."}}));
  add_extended(shapes, "TimelinePoint", "A version as a chart needs it.", "VersionEntry",
               {{"byRole", "RoleCounts", "Tokens."}, {"messagesByRole", "RoleCounts"}});
  shapes.add(answer_shape("Sums", "A view in numbers.",
                          {{"version", "integer"},
                           {"messages", "integer"},
                           {"tokens", "integer"},
                           {"bytes", "integer"},
                           {"byRole", "RoleCounts", "Tokens."},
                           {"messagesByRole", "RoleCounts"}}));
  shapes.add(answer_shape("Preview", "What operations would do.",
                          {{"ok", "true"},
                           {"results", "Outcome[]"},
                           {"before", "Sums"},
                           {"after", "Sums"},
                           {"diff", "Diff"},
                           {"rows", "Row[]", "The first messages of the difference."}}));
  shapes.add(answer_shape("HistoryPageAnswer", "Versions, the newest first.",
                          {{"ok", "true"},
                           {"result", "VersionEntry[]"},
                           {"next?", "integer", "What to give as before; absent at the end."}}));
  shapes.add({.name = "OperationAnswer",
              .text = "To an operation, or to a list.",
              .type = "Outcome|Outcomes"});
  add_answer(shapes, "RowsAnswer", "Rows");
  add_answer(shapes, "TimelineAnswer", "TimelinePoint[]");
}

void describe_background(Shapes& shapes) {
  shapes.add(answer_shape(
      "CompressionProgress", "How far a compression is.",
      {{"stage", R"("planning"|"summarising"|"applying")"},
       {"messages?", "integer", "That are being summarised."},
       {"summaryBytes?", "integer", "Of the summary so far, where the model streams it."}}));
  shapes.add(answer_shape(
      "Compression", "A compression in the background.",
      {{"job", "string"},
       {"scope", R"("process")", "It lives in the process that was asked, and nowhere else."},
       {"state", R"("running"|"done"|"failed"|"cancelled")"},
       {"strategy", "StrategyChoice", "As it was given, or the name of the default."},
       {"startedAt", "signed", "Milliseconds since 1970."},
       {"endedAt?", "signed"},
       {"version", "integer", "The head when it began."},
       {"messages", "integer", "Of the view then."},
       {"tokens", "integer"},
       {"progress?", "CompressionProgress", "While it runs."},
       {"answer?", "Outcome"},
       {"error?", "ErrorBody"}}));
  add_answer(shapes, "CompressionAnswer", "Compression");
  add_answer(shapes, "UsageAnswer", "Usage");
  add_answer(shapes, "NumberAnswer", "integer");
}

void describe_server(Shapes& shapes) {
  shapes.add(answer_shape("NamedProfile", "", {{"name", "ProfileName"}, {"dialect", "Dialect"}}));
  shapes.add(answer_shape("Dialects", "What can be rendered for.",
                          {{"dialects", "Dialect[]"}, {"profiles", "NamedProfile[]"}}));
  add_answer(shapes, "DialectsAnswer", "Dialects");
  add_answer(shapes, "HealthAnswer", R"("healthy")");
  add_answer(shapes, "ReadyAnswer", R"("ready")");
  shapes.add(answer_shape("Draining", "A server that is to be stopped.",
                          {{"draining", "boolean"},
                           {"requests", "integer", "Under way, but for this one."},
                           {"streams", "integer", "Open, of events and exports."}}));
  add_answer(shapes, "DrainingAnswer", "Draining");
  std::string answers;
  for (const std::string& answer : query_answers())
    answers += (answers.empty() ? "" : "|") + answer;
  shapes.add({.name = "QueryAnswer", .text = "The answer to a query.", .type = std::move(answers)});
}

}  // namespace

void read_new_conversation(Fields& fields, NewConversationBody& made) {
  read_id(fields, made.id);
  RawObject settings;
  fields.take("settings", settings, {"Kept with it.", "NewSettings"});
  made.settings = std::move(settings.json);
}

void read_new_fork(Fields& fields, NewConversationBody& made) {
  read_id(fields, made.id);
  fields.take("version", made.version, "To go on from. Default: the head.");
}

std::string query_request(std::string_view query) { return pascal_case(query) + "Request"; }

const Shapes& server_shapes() {
  static const Shapes all = [] {
    Shapes shapes = protocol_shapes();
    describe_bodies(shapes);
    describe_conversations(shapes);
    describe_store_recall(shapes);
    describe_history(shapes);
    describe_background(shapes);
    describe_server(shapes);
    return shapes;
  }();
  return all;
}

}  // namespace undertext
