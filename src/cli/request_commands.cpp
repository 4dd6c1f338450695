// requests, request, record: what clients sent, and what came of it.
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "json/answer_json.hpp"
#include "json/request_record_json.hpp"

namespace undertext {
namespace {

struct RequestsOptions : Common {
  std::optional<std::uint64_t> count;
};

Line line_of_request(const RequestRecord& record) {
  Line line;
  line.add_right(std::to_string(record.number), 6, {.bold = true}).pad_to(8);
  line.add(spelled_time(record.at_ms), quiet).pad_to(29);
  line.add("v" + std::to_string(record.version.value)).pad_to(37);
  line.add(name(record.kind)).pad_to(51);
  line.add(record.status == 0 ? "no answer"
                              : std::to_string(record.status) + (record.is_torn ? " torn" : ""))
      .pad_to(62);
  line.add_right(std::to_string(record.request_bytes) + " bytes", 16 + 62).pad_to(80);
  if (!record.has_raw_request) line.add("(no text) ", quiet);
  return line.add(printable(record.client + (record.model.empty() ? "" : " " + record.model)));
}

Run declare_requests(Arguments& arguments) {
  auto given = std::make_shared<RequestsOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"-n,--last", &given->count, "Only the newest N requests", "N"});
  return [given](Desk& desk) {
    const Conversation conversation = desk.conversation(*given);
    RequestQuery query{.limit = std::numeric_limits<std::uint64_t>::max()};
    query.last = given->count;
    for (const RequestRecord& record : conversation.requests(query).value()) {
      if (!given->json) {
        desk.screen().print(line_of_request(record));
        continue;
      }
      std::string out;
      append_json(out, record);
      desk.put_json(std::move(out));
    }
    return 0;
  };
}

struct RequestOptionsGiven : Common {
  Words words{.name = "NUMBER", .are_numbers = true};
  bool answer = false;
};

Run declare_request(Arguments& arguments) {
  auto given = std::make_shared<RequestOptionsGiven>();
  declare_words(arguments, *given, given->words, "The request's number");
  arguments.add({"--answer", &given->answer, "The raw answer instead of the raw request"});
  return [given](Desk& desk) {
    const std::uint64_t number = given->words.numbers(*given).front();
    const Conversation conversation = desk.conversation(*given);
    if (given->json) {
      std::string out;
      append_result(out, whole_request(conversation, number).value());
      desk.put_json(std::move(out));
      return 0;
    }
    const std::string text =
        (given->answer ? conversation.raw_answer(number) : conversation.raw_request(number))
            .value();
    if (desk.is_terminal()) {
      desk.say(printable(text));
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      fail(ErrorCode::unavailable, "not all could be written");
    }
    return 0;
  };
}

struct RecordOptions : Common {
  std::string request, client = "generic";
  std::optional<std::string> answer, dialect, response_id;
  std::optional<std::uint64_t> version, status;
};

Run declare_record(Arguments& arguments) {
  auto given = std::make_shared<RecordOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({.names = "--request",
                 .to = &given->request,
                 .help = "The raw request; - is standard input",
                 .value = "FILE",
                 .required = true});
  arguments.add({"--answer", &given->answer, "The raw answer", "FILE"});
  arguments.add(
      {"--client", &given->client, "Whose request it is: a profile of docs/clients.md", "CLIENT"});
  arguments.add({"--dialect", &given->dialect,
                 "The format of the request; default: that of the client", "DIALECT"});
  arguments.add({"--at-version", &given->version, "What the request saw; default: the head", "V"});
  arguments.add({"--status", &given->status, "Of HTTP", "N"});
  arguments.add({"--response-id", &given->response_id, "The provider's id of the answer", "ID"});
  return [given](Desk& desk) {
    Conversation conversation = desk.conversation(*given);
    const ClientProfile client = find_client(given->client).value();
    std::optional<Dialect> dialect;
    if (given->dialect) {
      dialect = dialect_named(*given->dialect);
      if (!dialect) fail(ErrorCode::invalid_argument, "there is no such dialect", "dialect");
    }
    GivenRequest recorded;
    recorded.request = of_option("--request", [&] { return read_whole(given->request); });
    if (given->answer)
      recorded.answer = of_option("--answer", [&] { return read_whole(*given->answer); });
    const MessageLimits& limits = conversation.settings().limits.message;
    if (const Result<ClientRequest> read =
            read_client_request(client, dialect, recorded.request, limits))
      recorded.record = describe_request(client, *read, recorded.request);
    recorded.record.client = client.name;
    recorded.record.status = static_cast<std::uint32_t>(given->status.value_or(0));
    if (given->version) recorded.version = Version(*given->version);
    if (given->response_id) {
      recorded.record.response_id = *given->response_id;
      recorded.record.keys.push_back("response:" + *given->response_id);
    }
    const std::uint64_t number = record_given(conversation, std::move(recorded));
    if (given->json) {
      std::string out;
      append_result(out, number);
      desk.put_json(std::move(out));
    } else {
      desk.say("request " + std::to_string(number));
    }
    return 0;
  };
}

}  // namespace

std::vector<Command> request_commands() {
  return {
      {"requests", "List the requests of the client that were recorded", "", declare_requests},
      {"request", "Write a recorded request as it was sent, or its answer", "", declare_request},
      {"record", "Record a request of a client, with its answer", "", declare_record},
  };
}

}  // namespace undertext
